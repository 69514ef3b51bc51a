static __device__ __forceinline__ void region_element(
    const float64 x,
    const float64 weight,
    const float64 shift,
    float64 &out
) {
    const float64 t0 = np_multiply(x, weight);
    const float64 t1 = np_add(t0, shift);
    out = t1;
}

extern "C" __global__ void __launch_bounds__(256) region(
    const float64 *__restrict__ x_data,
    int32 x_stride_0,
    int32 x_stride_1,
    int32 x_step,
    const float64 *__restrict__ weight_data,
    int32 weight_stride_0,
    int32 weight_stride_1,
    float64 *__restrict__ out_data,
    int32 out_stride_0,
    int32 out_stride_1,
    int32 extent_0,
    int32 extent_1,
    int32 extent_2
) {
    const int32 first = ((int32)blockIdx.x * blockDim.x + threadIdx.x) * 2;
    if (first >= extent_2) return;
    const int32 row_start = (int32)blockIdx.y * blockDim.y + threadIdx.y;
    const int32 row_step = (int32)gridDim.y * blockDim.y;
    #pragma unroll 1
    for (int32 index_0 = (int32)blockIdx.z; index_0 < extent_0; index_0 += (int32)gridDim.z) {
        #pragma unroll 1
        for (int32 index_1 = row_start; index_1 < extent_1; index_1 += row_step) {
            const float64 *x_row = x_data + index_0 * x_stride_0 + index_1 * x_stride_1;
            const float64 *weight_row = weight_data + index_0 * weight_stride_0 + index_1 * weight_stride_1;
            float64 *out_row = out_data + index_0 * out_stride_0 + index_1 * out_stride_1;
            const float64 weight = *weight_row;
            const float64 shift = np_negative(weight);
            if (first + 2 <= extent_2) {
                Vector<float64, 2> x_vector;
                #pragma unroll
                for (int lane = 0; lane < 2; ++lane) {
                    x_vector.lanes[lane] = x_row[(first + lane) * x_step];
                }
                Vector<float64, 2> out_vector;
                #pragma unroll
                for (int lane = 0; lane < 2; ++lane) {
                    region_element(x_vector.lanes[lane], weight, shift, out_vector.lanes[lane]);
                }
                *(Vector<float64, 2> *)(out_row + first) = out_vector;
            } else {
                #pragma unroll 1
                for (int32 i = first; i < extent_2; ++i) {
                    const float64 x = x_row[i * x_step];
                    float64 out;
                    region_element(x, weight, shift, out);
                    out_row[i] = out;
                }
            }
        }
    }
}
