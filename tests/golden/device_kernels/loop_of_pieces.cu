static __device__ __forceinline__ void region_element(
    const float32 x,
    const float64 weight,
    const int64 turns,
    const uint8 *route,
    float32 &a_out,
    float64 &size_out,
    bool_ &small_out
) {
    float32 a = x;
    float32 b = (float32)0x1.0000000000000p+0;
    complex128 z = np_cast_complex128(x);
    bool_ small = (bool_)0;
    for (int64 turn = 0; turn < turns; ++turn) {
        switch (route[turn]) {
        case 0: {
            // a < 100
            const bool_ is_less = np_less(a, (float32)0x1.9000000000000p+6);
            // a, b = b, a + b
            const float32 next = np_add(a, b);
            const float32 next_a = b;
            a = next_a;
            b = next;
            small = is_less;
        } break;
        case 1: {
            // z = z * turn
            const float64 angle = np_sin(weight);
            const complex128 z1 = np_multiply(z, np_cast_complex128(angle));
            z = z1;
        } break;
        }
    }
    const float64 size = np_absolute(z);
    a_out = a;
    size_out = size;
    small_out = small;
}

extern "C" __global__ void __launch_bounds__(256, 1) region(
    const float32 *__restrict__ x_data,
    int32 x_stride_0,
    int32 x_step,
    const float64 *__restrict__ weight_data,
    int32 weight_stride_0,
    float32 *__restrict__ a_out_data,
    int32 a_out_stride_0,
    float64 *__restrict__ size_out_data,
    int32 size_out_stride_0,
    int32 size_out_step,
    bool_ *__restrict__ small_out_data,
    int32 small_out_stride_0,
    int32 extent_0,
    int32 extent_1,
    int64 turns,
    const uint8 *__restrict__ route
) {
    const int32 first = (int32)blockIdx.x * blockDim.x + threadIdx.x;
    if (first >= extent_1) return;
    const int32 row_start = (int32)blockIdx.y * blockDim.y + threadIdx.y;
    const int32 row_step = (int32)gridDim.y * blockDim.y;
    #pragma unroll 1
    for (int32 index_0 = row_start; index_0 < extent_0; index_0 += row_step) {
        const float32 *x_row = x_data + index_0 * x_stride_0;
        const float64 *weight_row = weight_data + index_0 * weight_stride_0;
        float32 *a_out_row = a_out_data + index_0 * a_out_stride_0;
        float64 *size_out_row = size_out_data + index_0 * size_out_stride_0;
        bool_ *small_out_row = small_out_data + index_0 * small_out_stride_0;
        const float64 weight = *weight_row;
        const float32 x = x_row[first * x_step];
        float32 a_out;
        float64 size_out;
        bool_ small_out;
        region_element(x, weight, turns, route, a_out, size_out, small_out);
        a_out_row[first] = a_out;
        size_out_row[first * size_out_step] = size_out;
        small_out_row[first] = small_out;
    }
}
