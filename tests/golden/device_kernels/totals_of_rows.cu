static __device__ __forceinline__ void region_element(
    const float32 x,
    float32 &square_out,
    float32 &total_term,
    float32 &top_term
) {
    const float32 square = np_multiply(x, x);
    square_out = square;
    total_term = square;
    top_term = x;
}

extern "C" __global__ void __launch_bounds__(256, 1) region(
    const float32 *__restrict__ x_data,
    int32 x_stride_0,
    float32 *__restrict__ square_out_data,
    int32 square_out_stride_0,
    int32 extent_0,
    int32 extent_1,
    float32 *total_partials,
    float32 *total_result,
    float32 *top_partials,
    float32 *top_result,
    uint32 *ticket
) {
    float32 total_sums[4] = {(float32)0x0.0p+0, (float32)0x0.0p+0, (float32)0x0.0p+0, (float32)0x0.0p+0};
    float32 top_sums[4] = {
        np_from_bits((uint32)0xff800000u),
        np_from_bits((uint32)0xff800000u),
        np_from_bits((uint32)0xff800000u),
        np_from_bits((uint32)0xff800000u),
    };
    const int32 line_start = ((int32)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    const int32 line_step = (int32)(gridDim.x * blockDim.x) * 4;
    const int32 row_start = (int32)blockIdx.y * blockDim.y + threadIdx.y;
    const int32 row_step = (int32)gridDim.y * blockDim.y;
    #pragma unroll 1
    for (int32 index_0 = row_start; index_0 < extent_0; index_0 += row_step) {
        const float32 *x_row = x_data + index_0 * x_stride_0;
        float32 *square_out_row = square_out_data + index_0 * square_out_stride_0;
        float32 total_parts[4] = {(float32)0x0.0p+0, (float32)0x0.0p+0, (float32)0x0.0p+0, (float32)0x0.0p+0};
        #pragma unroll 1
        for (int32 first = line_start; first < extent_1; first += line_step) {
            if (first + 4 <= extent_1) {
                Vector<float32, 4> x_vector;
                #pragma unroll
                for (int lane = 0; lane < 4; ++lane) {
                    x_vector.lanes[lane] = x_row[first + lane];
                }
                Vector<float32, 4> square_out_vector;
                #pragma unroll
                for (int lane = 0; lane < 4; ++lane) {
                    float32 total_term;
                    float32 top_term;
                    region_element(x_vector.lanes[lane], square_out_vector.lanes[lane], total_term, top_term);
                    total_parts[lane] = Sum::combine(total_parts[lane], total_term);
                    top_sums[lane] = Maximum::combine(top_sums[lane], top_term);
                }
                #pragma unroll
                for (int lane = 0; lane < 4; ++lane) {
                    square_out_row[first + lane] = square_out_vector.lanes[lane];
                }
            } else {
                #pragma unroll 1
                for (int32 i = first; i < extent_1; ++i) {
                    const float32 x = x_row[i];
                    float32 square_out;
                    float32 total_term;
                    float32 top_term;
                    region_element(x, square_out, total_term, top_term);
                    square_out_row[i] = square_out;
                    total_parts[0] = Sum::combine(total_parts[0], total_term);
                    top_sums[0] = Maximum::combine(top_sums[0], top_term);
                }
            }
        }
        total_sums[0] = Sum::combine(total_sums[0], total_parts[0]);
        total_sums[1] = Sum::combine(total_sums[1], total_parts[1]);
        total_sums[2] = Sum::combine(total_sums[2], total_parts[2]);
        total_sums[3] = Sum::combine(total_sums[3], total_parts[3]);
    }
    total_sums[0] = Sum::combine(total_sums[0], total_sums[1]);
    total_sums[0] = Sum::combine(total_sums[0], total_sums[2]);
    total_sums[0] = Sum::combine(total_sums[0], total_sums[3]);
    const float32 total_block = of_block<Sum, 8>(total_sums[0]);
    top_sums[0] = Maximum::combine(top_sums[0], top_sums[1]);
    top_sums[0] = Maximum::combine(top_sums[0], top_sums[2]);
    top_sums[0] = Maximum::combine(top_sums[0], top_sums[3]);
    const float32 top_block = of_block<Maximum, 8>(top_sums[0]);
    const uint32 thread = threadIdx.y * blockDim.x + threadIdx.x;
    const uint32 blocks = gridDim.x * gridDim.y * gridDim.z;
    const uint32 block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    if (thread == 0) total_partials[block] = total_block;
    if (thread == 0) top_partials[block] = top_block;
    if (!is_last_block(ticket, blocks)) return;
    float32 total_rest = (float32)0x0.0p+0;
    float32 top_rest = np_from_bits((uint32)0xff800000u);
    for (uint32 k = thread; k < blocks; k += 256) {
        total_rest = Sum::combine(total_rest, total_partials[k]);
        top_rest = Maximum::combine(top_rest, top_partials[k]);
    }
    const float32 total = of_block<Sum, 8>(total_rest);
    const float32 top = of_block<Maximum, 8>(top_rest);
    if (thread == 0) {
        *total_result = total;
        *top_result = top;
        *ticket = 0;
    }
}
