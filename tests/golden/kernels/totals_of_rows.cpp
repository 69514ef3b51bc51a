struct Arguments {
    const Array *x;
    int64 x_stride_0;
    const Array *square_out;
    int64 square_out_stride_0;
    int64 extent_0;
    int64 extent_1;
    const Array *total_partials;
    const Array *top_partials;
};

extern "C" void region(const Arguments *arguments, char *scratch, int64 begin, int64 end) {
    const int64 extent_0 = arguments->extent_0;
    const int64 extent_1 = arguments->extent_1;
    for (int64 row = begin; row < end; ++row) {
        const float32 *x_data = (const float32 *)arguments->x->data + row * arguments->x_stride_0;
        float32 *square_out_data = (float32 *)arguments->square_out->data + row * arguments->square_out_stride_0;
        Pairwise<Sum, float32> total_parts;
        Pairwise<Maximum, float32> top_parts;
        for (int64 start = 0; start < extent_1; start += 1024) {
            const int64 stop = smaller(start + 1024, extent_1);
            alignas(64) float32 total_block[1024];
            INDEPENDENT
            for (int64 i = start; i < stop; ++i) {
                const float32 x = x_data[i];
                const float32 square = np_multiply(x, x);
                square_out_data[i] = square;
                total_block[i - start] = square;
            }
            total_parts.add(reduce_block<Sum>(total_block, stop - start));
            top_parts.add(reduce_block<Maximum>(x_data + start, stop - start));
        }
        ((float32 *)arguments->total_partials->data)[row] = total_parts.total();
        ((float32 *)arguments->top_partials->data)[row] = top_parts.total();
    }
}

extern "C" void region_combine(const Arguments *arguments, int64 count) {
    combine<Sum, float32>(arguments->total_partials, count);
    combine<Maximum, float32>(arguments->top_partials, count);
}
