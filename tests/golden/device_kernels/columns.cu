static __device__ __forceinline__ void region_sweep_0(const float64 x, float64 &top_term, float64 &place_term) {
    top_term = x;
    place_term = x;
}

static __device__ __forceinline__ void region_sweep_1(
    const float64 x,
    const float64 top,
    float64 &total_term,
    float64 &e_kept
) {
    const float64 t0 = np_subtract(x, top);
    const float64 e = np_exp(t0);
    total_term = e;
    e_kept = e;
}

static __device__ __forceinline__ void region_sweep_2(const float64 e, const float64 total, float64 &t1_out) {
    const float64 t1 = np_divide(e, total);
    t1_out = t1;
}

extern "C" __global__ void __launch_bounds__(256, 1) region(
    const float64 *__restrict__ x_data,
    int32 x_stride_0,
    float64 *__restrict__ t1_out_data,
    int32 t1_out_stride_0,
    int64 *__restrict__ place_out_data,
    int32 place_out_stride_0,
    int32 extent_0,
    int32 extent_1
) {
    const int32 tiles = (extent_1 + 31) / 32;
    const int32 row = (int32)blockIdx.x / tiles;
    const int32 own = ((int32)blockIdx.x - row * tiles) * 32 + (int32)threadIdx.x;
    const bool is_inside = own < extent_1;
    const int32 column = is_inside ? own : extent_1 - 1;
    const int32 lines = extent_0;
    int64 *place_out_row = place_out_data;
    const float64 *x_base = x_data;
    float64 *t1_out_base = t1_out_data;
    Vector<float64, 1> x_held[1];
    Vector<float64, 1> e_held[1];
    float64 top_sums[1] = {np_from_bits((uint64)0xfff0000000000000ULL)};
    Place<float64> place_sums[1] = {Place<float64>{np_from_bits((uint64)0xfff0000000000000ULL), 9223372036854775807}};
    #pragma unroll
    for (int unit = 0; unit < 1; ++unit) {
        const int32 at = unit * 8 + (int32)threadIdx.y;
        const int32 first = at;
        const int32 line = first < lines ? first : 0;
        const int32 index_0 = line;
        const float64 *x_row = x_base + index_0 * x_stride_0;
        x_held[unit].lanes[0] = x_row[column];
    }
    #pragma unroll
    for (int unit = 0; unit < 1; ++unit) {
        const int32 at = unit * 8 + (int32)threadIdx.y;
        const int32 first = at;
        float64 top_term;
        float64 place_term;
        region_sweep_0(x_held[unit].lanes[0], top_term, place_term);
        if (first < lines) {
            top_sums[0] = Maximum::combine(top_sums[0], top_term);
            place_sums[0] = FirstMaximum::combine(place_sums[0], Place<float64>{place_term, (int64)first});
        }
    }
    const float64 top_all = of_column<Maximum, 8>(top_sums[0]);
    const float64 top = top_all;
    const Place<float64> place_all = of_column<FirstMaximum, 8>(place_sums[0]);
    const int64 place = place_all.place;
    float64 total_sums[1] = {(float64)0x0.0p+0};
    float64 total_parts[1] = {(float64)0x0.0p+0};
    #pragma unroll
    for (int unit = 0; unit < 1; ++unit) {
        const int32 at = unit * 8 + (int32)threadIdx.y;
        const int32 first = at;
        float64 total_term;
        region_sweep_1(x_held[unit].lanes[0], top, total_term, e_held[unit].lanes[0]);
        if (first < lines) {
            total_parts[0] = Sum::combine(total_parts[0], total_term);
        }
    }
    total_sums[0] = Sum::combine(total_sums[0], total_parts[0]);
    const float64 total_all = of_column<Sum, 8>(total_sums[0]);
    const float64 total = total_all;
    #pragma unroll
    for (int unit = 0; unit < 1; ++unit) {
        const int32 at = unit * 8 + (int32)threadIdx.y;
        const int32 first = at;
        const int32 line = first < lines ? first : 0;
        const int32 index_0 = line;
        float64 *t1_out_row = t1_out_base + index_0 * t1_out_stride_0;
        Vector<float64, 1> t1_out_vector;
        region_sweep_2(e_held[unit].lanes[0], total, t1_out_vector.lanes[0]);
        if (first < lines && is_inside) t1_out_row[column] = t1_out_vector.lanes[0];
    }
    if (threadIdx.y == 0 && is_inside) {
        place_out_row[column] = place;
    }
}
