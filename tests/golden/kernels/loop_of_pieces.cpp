struct Arguments {
    const Array *x;
    int64 x_stride_0;
    int64 x_step;
    const Array *weight;
    int64 weight_stride_0;
    const Array *a_out;
    int64 a_out_stride_0;
    const Array *size_out;
    int64 size_out_stride_0;
    int64 size_out_step;
    const Array *small_out;
    int64 small_out_stride_0;
    int64 extent_0;
    int64 extent_1;
    int64 turns;
    const Array *route;
};

extern "C" void region(const Arguments *arguments, char *scratch, int64 begin, int64 end) {
    const int64 x_step = arguments->x_step;
    const int64 size_out_step = arguments->size_out_step;
    const int64 extent_0 = arguments->extent_0;
    const int64 extent_1 = arguments->extent_1;
    const int64 turns = arguments->turns;
    const uint8 *route = (const uint8 *)arguments->route->data;
    for (int64 row = begin; row < end; ++row) {
        const float32 *x_data = (const float32 *)arguments->x->data + row * arguments->x_stride_0;
        const float64 *weight_data = (const float64 *)arguments->weight->data + row * arguments->weight_stride_0;
        float32 *a_out_data = (float32 *)arguments->a_out->data + row * arguments->a_out_stride_0;
        float64 *size_out_data = (float64 *)arguments->size_out->data + row * arguments->size_out_stride_0;
        bool_ *small_out_data = (bool_ *)arguments->small_out->data + row * arguments->small_out_stride_0;
        const float64 weight = *weight_data;
        for (int64 start = 0; start < extent_1; start += LANES * CHAINS) {
            const int64 left = extent_1 - start;
            Lanes<float32> a_chains[CHAINS];
            Lanes<float32> b_chains[CHAINS];
            Lanes<complex128> z_chains[CHAINS];
            Lanes<bool_> small_chains[CHAINS];
            EACH_CHAIN {
                const Lanes<float32> x = load_lanes(x_data + start * x_step, x_step, chain * LANES, left);
                a_chains[chain] = x;
                b_chains[chain] = all_lanes((float32)0x1.0000000000000p+0);
                z_chains[chain] = np_cast_complex128(x);
                small_chains[chain] = all_lanes((bool_)0);
            }
            for (int64 turn = 0; turn < turns; ++turn) {
                switch (route[turn]) {
                case 0: {
                    EACH_CHAIN {
                        const Lanes<float32> a = a_chains[chain];
                        const Lanes<float32> b = b_chains[chain];
                        // a < 100
                        const Lanes<bool_> is_less = np_less(a, all_lanes((float32)0x1.9000000000000p+6));
                        // a, b = b, a + b
                        const Lanes<float32> next = np_add(a, b);
                        a_chains[chain] = b;
                        b_chains[chain] = next;
                        small_chains[chain] = is_less;
                    }
                } break;
                case 1: {
                    EACH_CHAIN {
                        const Lanes<complex128> z = z_chains[chain];
                        // z = z * turn
                        const Lanes<float64> angle = np_sin(all_lanes(weight));
                        const Lanes<complex128> z1 = np_multiply(z, np_cast_complex128(angle));
                        z_chains[chain] = z1;
                    }
                } break;
                }
            }
            EACH_CHAIN {
                const Lanes<float32> a = a_chains[chain];
                const Lanes<complex128> z = z_chains[chain];
                const Lanes<bool_> small = small_chains[chain];
                const Lanes<float64> size = np_absolute(z);
                store_lanes(a_out_data + start, 1, chain * LANES, left, a);
                store_lanes(size_out_data + start * size_out_step, size_out_step, chain * LANES, left, size);
                store_lanes(small_out_data + start, 1, chain * LANES, left, small);
            }
        }
    }
}
