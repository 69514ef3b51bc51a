struct Arguments {
    const Array *x;
    int64 x_stride_0;
    int64 extent_0;
    int64 extent_1;
    const Array *squares_partials;
    const Array *place_partials;
};

extern "C" void region(const Arguments *arguments, char *scratch, int64 begin, int64 end) {
    const int64 extent_0 = arguments->extent_0;
    const int64 extent_1 = arguments->extent_1;
    for (int64 row = begin; row < end; ++row) {
        const float64 *x_data = (const float64 *)arguments->x->data + row * arguments->x_stride_0;
        Pairwise<Deviation, Moments<float64>> squares_parts;
        Pairwise<FirstMinimum, Place<float64>> place_parts;
        for (int64 start = 0; start < extent_1; start += 1024) {
            const int64 stop = smaller(start + 1024, extent_1);
            squares_parts.add(moments_of_block(x_data + start, stop - start));
            place_parts.add(place_in_block<FirstMinimum>(x_data + start, stop - start, row * extent_1 + start));
        }
        ((Moments<float64> *)arguments->squares_partials->data)[row] = squares_parts.total();
        ((Place<float64> *)arguments->place_partials->data)[row] = place_parts.total();
    }
}

extern "C" void region_combine(const Arguments *arguments, int64 count) {
    combine<Deviation, Moments<float64>>(arguments->squares_partials, count);
    combine<FirstMinimum, Place<float64>>(arguments->place_partials, count);
}
