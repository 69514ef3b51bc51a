static __device__ __forceinline__ void region_sweep_0(
    const float64 q_0,
    const float64 q_1,
    const float64 q_2,
    const float64 p_0,
    const float64 p_1,
    const float64 p_2,
    float64 &nearest_term
) {
    const float64 d_0 = np_subtract(p_0, q_0);
    const float64 d_1 = np_subtract(p_1, q_1);
    const float64 d_2 = np_subtract(p_2, q_2);
    const float64 s_0 = np_square(d_0);
    const float64 s_1 = np_square(d_1);
    const float64 s_2 = np_square(d_2);
    const float64 t0 = np_add(s_0, s_1);
    const float64 t1 = np_add(t0, s_2);
    nearest_term = t1;
}

extern "C" __global__ void __launch_bounds__(256, 1) region(
    const float64 *__restrict__ p_data,
    int32 p_stride_0,
    const float64 *__restrict__ q_data,
    int32 q_stride_0,
    int32 q_step,
    int32 q_apart,
    float64 *__restrict__ nearest_out_data,
    int32 nearest_out_stride_0,
    int32 extent_0,
    int32 extent_1
) {
    const int32 row = (int32)blockIdx.x * 8 + (int32)threadIdx.y;
    if (row >= extent_0) return;
    const int32 index_0 = row;
    const float64 *p_row = p_data + index_0 * p_stride_0;
    const float64 *q_row = q_data + index_0 * q_stride_0;
    float64 *nearest_out_row = nearest_out_data + index_0 * nearest_out_stride_0;
    const float64 p_0 = *p_row;
    const float64 p_1 = p_row[1];
    const float64 p_2 = p_row[2];
    float64 nearest_sums[1] = {np_from_bits((uint64)0x7ff0000000000000ULL)};
    Vector<float64, 1> q_0_vectors[4];
    Vector<float64, 1> q_1_vectors[4];
    Vector<float64, 1> q_2_vectors[4];
    #pragma unroll
    for (int unit = 0; unit < 4; ++unit) {
        const int32 at = unit * 32 + (int32)threadIdx.x;
        const int32 first = at;
        q_0_vectors[unit].lanes[0] = q_row[(first < extent_1 ? first : 0) * q_step];
        q_1_vectors[unit].lanes[0] = q_row[(first < extent_1 ? first : 0) * q_step + 1 * q_apart];
        q_2_vectors[unit].lanes[0] = q_row[(first < extent_1 ? first : 0) * q_step + 2 * q_apart];
    }
    #pragma unroll
    for (int unit = 0; unit < 4; ++unit) {
        const int32 at = unit * 32 + (int32)threadIdx.x;
        const int32 first = at;
        float64 nearest_term;
        region_sweep_0(
            q_0_vectors[unit].lanes[0],
            q_1_vectors[unit].lanes[0],
            q_2_vectors[unit].lanes[0],
            p_0,
            p_1,
            p_2,
            nearest_term
        );
        if (first < extent_1) {
            nearest_sums[0] = Minimum::combine(nearest_sums[0], nearest_term);
        }
    }
    const float64 nearest_all = of_warp<Minimum, 32>(nearest_sums[0]);
    const float64 nearest = nearest_all;
    if (threadIdx.x == 0) {
        *nearest_out_row = nearest;
    }
}
