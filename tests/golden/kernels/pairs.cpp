struct Arguments {
    const Array *p;
    int64 p_stride_0;
    const Array *q;
    int64 q_stride_0;
    int64 q_step;
    int64 q_apart;
    const Array *nearest_out;
    int64 nearest_out_stride_0;
    int64 extent_0;
    int64 extent_1;
};

extern "C" void region(const Arguments *arguments, char *scratch, int64 begin, int64 end) {
    const int64 q_step = arguments->q_step;
    const int64 q_apart = arguments->q_apart;
    const int64 extent_0 = arguments->extent_0;
    const int64 extent_1 = arguments->extent_1;
    for (int64 row = begin; row < end; ++row) {
        const float64 *p_data = (const float64 *)arguments->p->data + row * arguments->p_stride_0;
        const float64 *q_data = (const float64 *)arguments->q->data + row * arguments->q_stride_0;
        float64 *nearest_out_data = (float64 *)arguments->nearest_out->data + row * arguments->nearest_out_stride_0;
        const float64 p_0 = *p_data;
        const float64 p_1 = p_data[1];
        const float64 p_2 = p_data[2];
        Pairwise<Minimum, float64> nearest_parts;
        for (int64 start = 0; start < extent_1; start += 1024) {
            const int64 stop = smaller(start + 1024, extent_1);
            alignas(64) float64 nearest_block[1024];
            INDEPENDENT
            for (int64 i = start; i < stop; ++i) {
                const float64 q_0 = q_data[i * q_step];
                const float64 q_1 = q_data[i * q_step + 1 * q_apart];
                const float64 q_2 = q_data[i * q_step + 2 * q_apart];
                const float64 d_0 = np_subtract(p_0, q_0);
                const float64 d_1 = np_subtract(p_1, q_1);
                const float64 d_2 = np_subtract(p_2, q_2);
                const float64 s_0 = np_square(d_0);
                const float64 s_1 = np_square(d_1);
                const float64 s_2 = np_square(d_2);
                const float64 t0 = np_add(s_0, s_1);
                const float64 t1 = np_add(t0, s_2);
                nearest_block[i - start] = t1;
            }
            nearest_parts.add(reduce_block<Minimum>(nearest_block, stop - start));
        }
        const float64 nearest = nearest_parts.total();
        *nearest_out_data = nearest;
    }
}
