struct Arguments {
    const Array *x0;
    const Array *x_out;
    int64 extent_0;
    int64 turns;
    const Array *dt_turns;
};

extern "C" void region(const Arguments *arguments, char *scratch, int64 begin, int64 end) {
    const float64 *x0_data = (const float64 *)arguments->x0->data;
    float64 *x_out_data = (float64 *)arguments->x_out->data;
    const int64 turns = arguments->turns;
    const float64 *dt_turns = (const float64 *)arguments->dt_turns->data;
    for (int64 start = begin; start < end; start += LANES * CHAINS) {
        const int64 left = end - start;
        Lanes<float64> x_chains[CHAINS];
        EACH_CHAIN {
            const Lanes<float64> x0 = load_lanes(x0_data + start, 1, chain * LANES, left);
            x_chains[chain] = x0;
        }
        for (int64 turn = 0; turn < turns; ++turn) {
            const float64 dt = dt_turns[turn];
            EACH_CHAIN {
                const Lanes<float64> x = x_chains[chain];
                // x = x + dt * (x - x * x)
                const Lanes<float64> t0 = np_multiply(x, x);
                const Lanes<float64> t1 = np_subtract(x, t0);
                const Lanes<float64> t2 = np_multiply(all_lanes(dt), t1);
                const Lanes<float64> t3 = np_add(x, t2);
                x_chains[chain] = t3;
            }
        }
        EACH_CHAIN {
            const Lanes<float64> x = x_chains[chain];
            store_lanes(x_out_data + start, 1, chain * LANES, left, x);
        }
    }
}
