struct Arguments {
    const Array *x;
    int64 x_stride_0;
    const Array *t1_out;
    int64 t1_out_stride_0;
    const Array *place_out;
    int64 place_out_stride_0;
    int64 extent_0;
    int64 extent_1;
};

extern "C" void region(const Arguments *arguments, char *scratch, int64 begin, int64 end) {
    const int64 extent_0 = arguments->extent_0;
    const int64 extent_1 = arguments->extent_1;
    const int64 tiles = (extent_1 + 255) / 256;
    const int64 lines = extent_0;
    float64 *e_rows = (float64 *)scratch;
    for (int64 unit = begin; unit < end; ++unit) {
        const int64 first = unit % tiles * 256;
        const int64 count = smaller(256, extent_1 - first);
        int64 *place_out_data = (int64 *)arguments->place_out->data + first;
        const float64 *x_base = (const float64 *)arguments->x->data + first;
        float64 *t1_out_base = (float64 *)arguments->t1_out->data + first;
        alignas(64) float64 top_total[256];
        alignas(64) float64 top_part[256];
        alignas(64) float64 place_total[256];
        alignas(64) float64 place_part[256];
        alignas(64) int64 place_place[256];
        INDEPENDENT
        for (int64 i = 0; i < count; ++i) {
            top_total[i] = np_from_bits((uint64)0xfff0000000000000ULL);
            place_total[i] = np_from_bits((uint64)0xfff0000000000000ULL);
            place_place[i] = 0;
        }
        for (int64 start = 0; start < lines; start += 128) {
            const int64 stop = smaller(start + 128, lines);
            INDEPENDENT
            for (int64 i = 0; i < count; ++i) {
                top_part[i] = np_from_bits((uint64)0xfff0000000000000ULL);
            }
            for (int64 line = start; line < stop; ++line) {
                const float64 *x_data = x_base + line * arguments->x_stride_0;
                float64 *t1_out_data = t1_out_base + line * arguments->t1_out_stride_0;
                INDEPENDENT
                for (int64 i = 0; i < count; ++i) {
                    const float64 x = x_data[i];
                    top_part[i] = Maximum::combine(top_part[i], x);
                    const bool place_beats = FirstMaximum::beats(x, place_total[i]);
                    place_total[i] = place_beats ? x : place_total[i];
                    place_place[i] = place_beats ? line : place_place[i];
                }
            }
            INDEPENDENT
            for (int64 i = 0; i < count; ++i) {
                top_total[i] = Maximum::combine(top_total[i], top_part[i]);
            }
        }
        alignas(64) float64 top_lane[256];
        alignas(64) int64 place_lane[256];
        INDEPENDENT
        for (int64 i = 0; i < count; ++i) {
            const float64 top = top_total[i];
            top_lane[i] = top;
            const int64 place = Place<float64>{place_total[i], place_place[i]}.place;
            place_lane[i] = place;
        }
        alignas(64) float64 total_total[256];
        alignas(64) float64 total_part[256];
        INDEPENDENT
        for (int64 i = 0; i < count; ++i) {
            total_total[i] = (float64)0x0.0p+0;
        }
        for (int64 start = 0; start < lines; start += 128) {
            const int64 stop = smaller(start + 128, lines);
            INDEPENDENT
            for (int64 i = 0; i < count; ++i) {
                total_part[i] = (float64)0x0.0p+0;
            }
            for (int64 line = start; line < stop; ++line) {
                const float64 *x_data = x_base + line * arguments->x_stride_0;
                float64 *t1_out_data = t1_out_base + line * arguments->t1_out_stride_0;
                float64 *e_row = e_rows + line * 256;
                INDEPENDENT
                for (int64 i = 0; i < count; ++i) {
                    const float64 top = top_lane[i];
                    const float64 x = x_data[i];
                    const float64 t0 = np_subtract(x, top);
                    const float64 e = np_exp(t0);
                    e_row[i] = e;
                    total_part[i] = Sum::combine(total_part[i], e);
                }
            }
            INDEPENDENT
            for (int64 i = 0; i < count; ++i) {
                total_total[i] = Sum::combine(total_total[i], total_part[i]);
            }
        }
        alignas(64) float64 total_lane[256];
        INDEPENDENT
        for (int64 i = 0; i < count; ++i) {
            const float64 total = total_total[i];
            total_lane[i] = total;
        }
        for (int64 line = 0; line < lines; ++line) {
            const float64 *x_data = x_base + line * arguments->x_stride_0;
            float64 *t1_out_data = t1_out_base + line * arguments->t1_out_stride_0;
            float64 *e_row = e_rows + line * 256;
            INDEPENDENT
            for (int64 i = 0; i < count; ++i) {
                const float64 total = total_lane[i];
                const float64 e = e_row[i];
                const float64 t1 = np_divide(e, total);
                t1_out_data[i] = t1;
            }
        }
        INDEPENDENT
        for (int64 i = 0; i < count; ++i) {
            const int64 place = place_lane[i];
            place_out_data[i] = place;
        }
    }
}
