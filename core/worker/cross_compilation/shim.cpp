// An accelerator that answers and does nothing: tracing on fake CUDA tensors, autograd's engine included, asks for a device
// guard, streams and events, and for torch's CUDA hooks, attention for the kernel to take. No memory and no kernel is behind them.
// It must be loaded before torch is imported, which looks the hooks up once.
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/native/transformers/attention.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace {

constexpr auto kType = c10::DeviceType::CUDA;
// What convolutions ask before they choose a memory layout; any version since 8 gives the same answers.
constexpr long kCuDNNVersion = 91900;
constexpr long kMIOpenVersion = 30500;

bool forAmd = false;
int64_t attentionBackend = 0;

c10::Device onlyDevice() {
  return c10::Device(kType, 0);
}

c10::Stream onlyStream() {
  return c10::Stream(c10::Stream::DEFAULT, onlyDevice());
}

struct AbsentGuard final : c10::impl::NoOpDeviceGuardImpl<kType> {
  c10::Device getDevice() const override { return onlyDevice(); }
  c10::Device exchangeDevice(c10::Device) const override { return onlyDevice(); }
  c10::Stream getStream(c10::Device) const noexcept override { return onlyStream(); }
  c10::Stream getDefaultStream(c10::Device) const override { return onlyStream(); }
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return onlyStream(); }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void record(void**, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override {}
  void destroyEvent(void*, const c10::DeviceIndex) const noexcept override {}
};

struct AbsentHooks final : at::CUDAHooksInterface {
  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasCUDA() const override { return true; }
  bool hasPrimaryContext(at::DeviceIndex) const override { return true; }
  int getNumGPUs() const override { return 1; }
  at::DeviceIndex deviceCount() const override { return 1; }
  at::DeviceIndex getCurrentDevice() const override { return 0; }
  at::DeviceIndex exchangeDevice(at::DeviceIndex) const override { return 0; }
  at::DeviceIndex maybeExchangeDevice(at::DeviceIndex) const override { return 0; }
  bool hasCuDNN() const override { return !forAmd; }
  bool compiledWithCuDNN() const override { return !forAmd; }
  bool compiledWithMIOpen() const override { return forAmd; }
  bool supportsDilatedConvolutionWithCuDNN() const override { return true; }
  bool supportsDepthwiseConvolutionWithCuDNN() const override { return true; }
  bool supportsBFloat16ConvolutionWithCuDNNv8() const override { return true; }
  long versionCuDNN() const override { return kCuDNNVersion; }
  long versionRuntimeCuDNN() const override { return kCuDNNVersion; }
  long versionMIOpen() const override { return kMIOpenVersion; }
  double batchnormMinEpsilonCuDNN() const override { return 0.0; }
};

int64_t chosenAttention(
    const at::Tensor&,
    const at::Tensor&,
    const at::Tensor&,
    const std::optional<at::Tensor>&,
    double,
    bool,
    std::optional<double>,
    bool) {
  return attentionBackend;
}

// Preferred over the hooks of a build with CUDA, which are registered when torch is imported and know of no device.
const bool kHooksRegistered = [] {
  at::CUDAHooksRegistry()->Register(
      "CUDAHooks",
      [](at::CUDAHooksArgs) -> std::unique_ptr<at::CUDAHooksInterface> { return std::make_unique<AbsentHooks>(); },
      c10::REGISTRY_PREFERRED);
  return true;
}();

}  // namespace

// What was set last counts, so this is called when torch has been imported.
extern "C" void compileboard_set_guard(int amd) {
  forAmd = amd;
  static const AbsentGuard guard;
  c10::impl::device_guard_impl_registry[static_cast<size_t>(kType)].store(&guard);
  at::native::_fused_sdp_choice_stub.set_cuda_dispatch_ptr(&chosenAttention);
}

// The `sdp::SDPBackend` that scaled_dot_product_attention takes from now on.
extern "C" void compileboard_choose_attention(int64_t backend) {
  attentionBackend = backend;
}
