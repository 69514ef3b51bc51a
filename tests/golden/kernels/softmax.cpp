struct Arguments {
    const Array *x;
    int64 x_stride_0;
    const Array *t1_out;
    int64 t1_out_stride_0;
    const Array *top_out;
    int64 top_out_stride_0;
    int64 extent_0;
    int64 extent_1;
};

extern "C" void region(const Arguments *arguments, char *scratch, int64 begin, int64 end) {
    const int64 extent_0 = arguments->extent_0;
    const int64 extent_1 = arguments->extent_1;
    float32 *e_row = (float32 *)scratch;
    for (int64 row = begin; row < end; ++row) {
        const float32 *x_data = (const float32 *)arguments->x->data + row * arguments->x_stride_0;
        float32 *t1_out_data = (float32 *)arguments->t1_out->data + row * arguments->t1_out_stride_0;
        float32 *top_out_data = (float32 *)arguments->top_out->data + row * arguments->top_out_stride_0;
        Pairwise<Maximum, float32> top_parts;
        for (int64 start = 0; start < extent_1; start += 1024) {
            const int64 stop = smaller(start + 1024, extent_1);
            top_parts.add(reduce_block<Maximum>(x_data + start, stop - start));
        }
        const float32 top = top_parts.total();
        Pairwise<Sum, float32> total_parts;
        for (int64 start = 0; start < extent_1; start += 1024) {
            const int64 stop = smaller(start + 1024, extent_1);
            INDEPENDENT
            for (int64 i = start; i < stop; ++i) {
                const float32 x = x_data[i];
                // e = np.exp(x - top)
                const float32 t0 = np_subtract(x, top);
                const float32 e = np_exp(t0);
                e_row[i] = e;
            }
            total_parts.add(reduce_block<Sum>(e_row + start, stop - start));
        }
        const float32 total = total_parts.total();
        INDEPENDENT
        for (int64 i = 0; i < extent_1; ++i) {
            const float32 e = e_row[i];
            // return e / total
            const float32 t1 = np_divide(e, total);
            t1_out_data[i] = t1;
        }
        *top_out_data = top;
    }
}
