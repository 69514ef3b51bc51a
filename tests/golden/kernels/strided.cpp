struct Arguments {
    const Array *x;
    int64 x_stride_0;
    int64 x_stride_1;
    int64 x_step;
    const Array *weight;
    int64 weight_stride_0;
    int64 weight_stride_1;
    const Array *out;
    int64 out_stride_0;
    int64 out_stride_1;
    int64 extent_0;
    int64 extent_1;
    int64 extent_2;
};

extern "C" void region(const Arguments *arguments, char *scratch, int64 begin, int64 end) {
    const int64 x_step = arguments->x_step;
    const int64 extent_0 = arguments->extent_0;
    const int64 extent_1 = arguments->extent_1;
    const int64 extent_2 = arguments->extent_2;
    for (int64 row = begin; row < end; ++row) {
        const int64 index_1 = row % extent_1;
        const int64 rest_1 = row / extent_1;
        const int64 index_0 = rest_1;
        const float64 *x_data = (const float64 *)arguments->x->data + index_0 * arguments->x_stride_0 + index_1 * arguments->x_stride_1;
        const float64 *weight_data = (const float64 *)arguments->weight->data + index_0 * arguments->weight_stride_0 + index_1 * arguments->weight_stride_1;
        float64 *out_data = (float64 *)arguments->out->data + index_0 * arguments->out_stride_0 + index_1 * arguments->out_stride_1;
        const float64 weight = *weight_data;
        const float64 shift = np_negative(weight);
        INDEPENDENT
        for (int64 i = 0; i < extent_2; ++i) {
            const float64 x = x_data[i * x_step];
            const float64 t0 = np_multiply(x, weight);
            const float64 t1 = np_add(t0, shift);
            out_data[i] = t1;
        }
    }
}
