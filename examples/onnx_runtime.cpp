// Runs an ONNX model on one number, with ONNX Runtime's C API and no Python.
//
// Write the model:  python -c "import gjit, numpy; from gjit.demo import Net; gjit.export_onnx(Net(), 'net.onnx', numpy.array(5))"
// Build and run:    c++ -std=c++17 onnx_runtime.cpp -I$ORT/include -L$ORT/lib -lonnxruntime -o run && ./run net.onnx 7
#include <onnxruntime_c_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

static const OrtApi* ort = OrtGetApiBase()->GetApi(ORT_API_VERSION);

static void check(OrtStatus* status) {
    if (status == nullptr) return;
    std::fprintf(stderr, "%s\n", ort->GetErrorMessage(status));
    std::exit(1);
}

int main(int count, char** arguments) {
    if (count < 3) return std::fprintf(stderr, "usage: %s model.onnx number...\n", arguments[0]), 2;
    OrtEnv* environment;
    OrtSessionOptions* options;
    OrtSession* session;
    OrtMemoryInfo* memory;
    check(ort->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "gjit", &environment));
    check(ort->CreateSessionOptions(&options));
    check(ort->CreateSession(environment, arguments[1], options, &session));
    check(ort->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
    const char* inputs[] = {"x"};
    const char* outputs[] = {"output"};
    for (int index = 2; index < count; ++index) {
        int64_t x = std::atoll(arguments[index]);
        OrtValue *given, *result = nullptr;
        check(ort->CreateTensorWithDataAsOrtValue(memory, &x, sizeof x, nullptr, 0, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, &given));
        check(ort->Run(session, nullptr, inputs, &given, 1, outputs, 1, &result));
        float* value;
        check(ort->GetTensorMutableData(result, reinterpret_cast<void**>(&value)));
        std::printf("%lld %.0f\n", static_cast<long long>(x), *value);
        ort->ReleaseValue(given);
        ort->ReleaseValue(result);
    }
    ort->ReleaseMemoryInfo(memory);
    ort->ReleaseSession(session);
    ort->ReleaseSessionOptions(options);
    ort->ReleaseEnv(environment);
}
