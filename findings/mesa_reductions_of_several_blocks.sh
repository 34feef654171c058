#!/usr/bin/env bash
# Mesa's lavapipe reduces the rows of a tall cooperative matrix, and the columns of a wide one, over the wrong block.
#
# Guess: coopMatReduceNV of an accumulator of f32, with gl_CooperativeMatrixReduceRowNV, gives every element of a row the sum (or the
# maximum) of that row, and with gl_CooperativeMatrixReduceColumnNV that of its column, for every size that the driver lists.
# Seen: the driver lists VK_NV_cooperative_matrix2 with reductions, and sizes in steps of 8. Count the blocks of 8 x 8 of a matrix from
# 0, along the rows of blocks. Rows 0 to 7 are right, and so are columns 0 to 7. Rows 8 b to 8 b + 7, with b > 0, get the reductions of
# the 8 rows of block b, and columns 8 b to 8 b + 7 those of the 8 columns of block b; nothing else enters them. In 16 x 16, block 1 is
# the upper right one: rows 8 to 15 get the reductions of rows 0 to 7 over columns 8 to 15, and nothing of their own, and columns 8 to
# 15 are reduced over rows 0 to 7 alone. Sums and maxima do the same.
# What is right: all that has 8 rows or 8 columns, and the reduction of all rows and columns to one value.
#
# Versions: mesa-vulkan-drivers 26.1.6-1~bpo13+1 of Debian 13's backports; libvulkan1 and libvulkan-dev 1.4.309.0-1, glslang-tools
# 15.1.0+1.4.309.0-1 and spirv-tools 2025.1~rc1-1 of Debian 13, with its LLVM 19. Run on Debian 12, x86-64 with AVX2, with gcc 12.
# Passes where this is what happens, and fails where it has changed.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# The packages of a newer Debian, out of the archive that this machine uses: apt works in this folder and installs nothing.
uris=$(apt-get update --print-uris)
archive=$(sed -n "s|^'\(.*/debian/\)dists/[^/]*/InRelease'.*|\1|p" <<<"$uris" | sort -u | sed -n 1p)
if [ -z "$archive" ]; then
    echo "no Debian archive among the sources of apt" >&2
    exit 1
fi
mkdir -p apt/lists/partial apt/archives/partial root
touch apt/status
for suite in trixie trixie-backports; do
    echo "deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $suite main"
done >apt/sources.list
cat >apt/apt.conf <<END
#clear APT::Update;
#clear APT::Default-Release;
Dir::State "$work/apt";
Dir::State::lists "$work/apt/lists";
Dir::State::status "$work/apt/status";
Dir::Cache "$work/apt";
Dir::Cache::archives "$work/apt/archives";
Dir::Etc::sourcelist "$work/apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::Log "$work/apt";
APT::Architecture "amd64";
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
END
apt-get -qq -c apt/apt.conf update
apt-get -qq -c apt/apt.conf install --yes --download-only mesa-vulkan-drivers=26.1.6-1~bpo13+1 libvulkan1=1.4.309.0-1 \
    libvulkan-dev=1.4.309.0-1 glslang-tools=15.1.0+1.4.309.0-1 spirv-tools=2025.1~rc1-1 >/dev/null
for package in apt/archives/*.deb; do
    dpkg -x "$package" root
done
libraries=$work/root/usr/lib/x86_64-linux-gnu
printf '{"file_format_version": "1.0.0", "ICD": {"api_version": "1.4.0", "library_path": "%s"}}\n' \
    "$libraries/libvulkan_lvp.so" >driver.json

# NOTE: the packages want a newer C library than Debian 12 has, so all programs run under the one that came with them.
run() {
    "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" "$@"
}

cat >reduce.comp <<'END'
#version 460
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_NV_cooperative_matrix2 : require
layout(local_size_x = 8) in; // one subgroup
layout(set = 0, binding = 0) readonly buffer From { float from[]; };
layout(set = 0, binding = 1) writeonly buffer To { float to[]; };
float combined(const in float a, const in float b) { return COMBINED; }
void main() {
    coopmat<float, gl_ScopeSubgroup, ROWS, COLUMNS, gl_MatrixUseAccumulator> matrix, result;
    coopMatLoad(matrix, from, 0, COLUMNS, gl_CooperativeMatrixLayoutRowMajor);
    coopMatReduceNV(result, matrix, OVER, combined);
    coopMatStore(result, to, 0, COLUMNS, gl_CooperativeMatrixLayoutRowMajor);
}
END

cat >reduce.c <<'END'
// Runs each module it is given, named ROWS_COLUMNS_OVER_OPERATION, on the matrix whose element (row, column) is 100 * row + column.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define MOST (24 * 24)
#define MUST(call) must(call, #call)
#define TYPE(name) .sType = VK_STRUCTURE_TYPE_##name

static void must(VkResult result, const char *call) {
    if (result != VK_SUCCESS) {
        fprintf(stderr, "%d from %s\n", result, call);
        exit(2);
    }
}

static VkPhysicalDevice gpu;
static VkDevice device;

// The driver, in a line, and whether it lists steps of 8 x 8 x 8 with accumulators of f32 at the scope of a subgroup of 8.
static bool describe(VkInstance instance) {
    VkPhysicalDeviceSubgroupProperties subgroup = {TYPE(PHYSICAL_DEVICE_SUBGROUP_PROPERTIES)};
    VkPhysicalDeviceDriverProperties driver = {TYPE(PHYSICAL_DEVICE_DRIVER_PROPERTIES), .pNext = &subgroup};
    VkPhysicalDeviceProperties2 properties = {TYPE(PHYSICAL_DEVICE_PROPERTIES_2), .pNext = &driver};
    vkGetPhysicalDeviceProperties2(gpu, &properties);
    VkPhysicalDeviceCooperativeMatrix2FeaturesNV second = {TYPE(PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV)};
    VkPhysicalDeviceFeatures2 features = {TYPE(PHYSICAL_DEVICE_FEATURES_2), .pNext = &second};
    vkGetPhysicalDeviceFeatures2(gpu, &features);

    VkCooperativeMatrixFlexibleDimensionsPropertiesNV sizes[16] = {0};
    uint32_t count = 16;
    for (uint32_t i = 0; i < count; i++)
        sizes[i].sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_FLEXIBLE_DIMENSIONS_PROPERTIES_NV;
    const char *name = "vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV";
    PFN_vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV list =
        (PFN_vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV)vkGetInstanceProcAddr(instance, name);
    MUST(list(gpu, &count, sizes));
    bool listed = false;
    for (uint32_t i = 0; i < count; i++)
        listed |= sizes[i].MGranularity == 8 && sizes[i].NGranularity == 8 && sizes[i].KGranularity == 8 &&
            sizes[i].AType == VK_COMPONENT_TYPE_FLOAT16_KHR && sizes[i].BType == VK_COMPONENT_TYPE_FLOAT16_KHR &&
            sizes[i].CType == VK_COMPONENT_TYPE_FLOAT32_KHR && sizes[i].scope == VK_SCOPE_SUBGROUP_KHR;
    printf("driver: %s %s\n", driver.driverName, driver.driverInfo);
    printf("subgroups of %u, flexible dimensions %u, reductions %u, f16 x f16 to f32 in steps of 8 x 8 x 8: %s\n", subgroup.subgroupSize,
        second.cooperativeMatrixFlexibleDimensions, second.cooperativeMatrixReductions, listed ? "listed" : "not listed");
    return listed && subgroup.subgroupSize == 8 && second.cooperativeMatrixFlexibleDimensions && second.cooperativeMatrixReductions;
}

static void make_device(void) {
    VkPhysicalDeviceCooperativeMatrix2FeaturesNV second = {TYPE(PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV),
        .cooperativeMatrixFlexibleDimensions = VK_TRUE, .cooperativeMatrixReductions = VK_TRUE};
    VkPhysicalDeviceCooperativeMatrixFeaturesKHR first = {TYPE(PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR), .pNext = &second,
        .cooperativeMatrix = VK_TRUE};
    VkPhysicalDeviceVulkan12Features core = {TYPE(PHYSICAL_DEVICE_VULKAN_1_2_FEATURES), .pNext = &first, .vulkanMemoryModel = VK_TRUE};
    VkDeviceQueueCreateInfo queue = {TYPE(DEVICE_QUEUE_CREATE_INFO), .queueCount = 1, .pQueuePriorities = &(float){1}};
    const char *extensions[] = {"VK_KHR_cooperative_matrix", "VK_NV_cooperative_matrix2"};
    VkDeviceCreateInfo info = {TYPE(DEVICE_CREATE_INFO), .pNext = &core, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue,
        .enabledExtensionCount = 2, .ppEnabledExtensionNames = extensions};
    MUST(vkCreateDevice(gpu, &info, NULL, &device));
}

// A buffer of floats that the CPU sees, too.
static VkBuffer make_buffer(float **floats) {
    VkBufferCreateInfo info = {TYPE(BUFFER_CREATE_INFO), .size = 4 * MOST, .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkBuffer buffer;
    MUST(vkCreateBuffer(device, &info, NULL, &buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, buffer, &needs);
    VkPhysicalDeviceMemoryProperties memories;
    vkGetPhysicalDeviceMemoryProperties(gpu, &memories);
    VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0; // Vulkan promises one
    while (!(needs.memoryTypeBits >> type & 1) || (memories.memoryTypes[type].propertyFlags & wanted) != wanted)
        type++;
    VkMemoryAllocateInfo allocation = {TYPE(MEMORY_ALLOCATE_INFO), .allocationSize = needs.size, .memoryTypeIndex = type};
    VkDeviceMemory memory;
    MUST(vkAllocateMemory(device, &allocation, NULL, &memory));
    MUST(vkBindBufferMemory(device, buffer, memory, 0));
    MUST(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, (void **)floats));
    return buffer;
}

static VkPipeline make_pipeline(const char *path, VkPipelineLayout layout) {
    static uint32_t code[1 << 14];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        exit(2);
    size_t words = fread(code, 4, 1 << 14, file);
    fclose(file);
    VkShaderModuleCreateInfo info = {TYPE(SHADER_MODULE_CREATE_INFO), .codeSize = 4 * words, .pCode = code};
    VkShaderModule module;
    MUST(vkCreateShaderModule(device, &info, NULL, &module));
    VkComputePipelineCreateInfo compute = {TYPE(COMPUTE_PIPELINE_CREATE_INFO), .layout = layout, .stage = {
        TYPE(PIPELINE_SHADER_STAGE_CREATE_INFO), .stage = VK_SHADER_STAGE_COMPUTE_BIT, .module = module, .pName = "main"}};
    VkPipeline pipeline;
    MUST(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &compute, NULL, &pipeline));
    return pipeline;
}

// The sum or the maximum over some rows and columns.
static float reduced(bool sum, int row, int rows, int column, int columns) {
    float result = 0;
    for (int r = row; r < row + rows; r++)
        for (int c = column; c < column + columns; c++) {
            float element = 100 * r + c;
            result = sum ? result + element : element > result ? element : result;
        }
    return result;
}

// Prints one case and returns whether it is as described.
static bool judge(int rows, int columns, const char *over, bool sum, const float *seen) {
    int wrong = 0, described = 0, first = -1;
    float rights[MOST];
    for (int i = 0; i < rows * columns; i++) {
        int r = i / columns, c = i % columns;
        bool row = strcmp(over, "Row") == 0, column = strcmp(over, "Column") == 0;
        float right = row ? reduced(sum, r, 1, 0, columns) : column ? reduced(sum, 0, rows, c, 1) : reduced(sum, 0, rows, 0, columns);
        int b = row ? r / 8 : column ? c / 8 : 0;
        int block_row = b / (columns / 8) * 8, block_column = b % (columns / 8) * 8;
        float as_described = b == 0 ? right :
            row ? reduced(sum, block_row + r % 8, 1, block_column, 8) : reduced(sum, block_row, 8, block_column + c % 8, 1);
        rights[i] = right;
        described += seen[i] == as_described;
        if (seen[i] != right && wrong++ == 0)
            first = i;
    }
    printf("%2d x %-2d  %-12s %-7s  %3d of %3d wrong, %s", rows, columns, over, sum ? "sum" : "maximum", wrong, rows * columns,
        described == rows * columns ? "as described" : "changed");
    if (first >= 0)
        printf("; (%d, %d): expected %g, seen %g", first / columns, first % columns, rights[first], seen[first]);
    printf("\n");
    return described == rows * columns;
}

int main(int count, char **paths) {
    VkApplicationInfo application = {TYPE(APPLICATION_INFO), .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo instance_info = {TYPE(INSTANCE_CREATE_INFO), .pApplicationInfo = &application};
    VkInstance instance;
    MUST(vkCreateInstance(&instance_info, NULL, &instance));
    MUST(vkEnumeratePhysicalDevices(instance, &(uint32_t){1}, &gpu));
    if (!describe(instance))
        return 1;
    make_device();
    VkQueue queue;
    vkGetDeviceQueue(device, 0, 0, &queue);

    VkDescriptorSetLayoutBinding bindings[2] = {{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL}};
    VkDescriptorSetLayoutCreateInfo set_info = {TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO), .bindingCount = 2, .pBindings = bindings};
    VkDescriptorSetLayout set_layout;
    MUST(vkCreateDescriptorSetLayout(device, &set_info, NULL, &set_layout));
    VkPipelineLayoutCreateInfo layout_info = {TYPE(PIPELINE_LAYOUT_CREATE_INFO), .setLayoutCount = 1, .pSetLayouts = &set_layout};
    VkPipelineLayout layout;
    MUST(vkCreatePipelineLayout(device, &layout_info, NULL, &layout));
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2};
    VkDescriptorPoolCreateInfo pool_info = {TYPE(DESCRIPTOR_POOL_CREATE_INFO), .maxSets = 1, .poolSizeCount = 1, .pPoolSizes = &size};
    VkDescriptorPool pool;
    MUST(vkCreateDescriptorPool(device, &pool_info, NULL, &pool));
    VkDescriptorSetAllocateInfo set_one = {TYPE(DESCRIPTOR_SET_ALLOCATE_INFO), .descriptorPool = pool, .descriptorSetCount = 1,
        .pSetLayouts = &set_layout};
    VkDescriptorSet set;
    MUST(vkAllocateDescriptorSets(device, &set_one, &set));
    float *floats[2];
    for (uint32_t i = 0; i < 2; i++) {
        VkDescriptorBufferInfo whole = {make_buffer(&floats[i]), 0, VK_WHOLE_SIZE};
        VkWriteDescriptorSet write = {TYPE(WRITE_DESCRIPTOR_SET), .dstSet = set, .dstBinding = i, .descriptorCount = 1,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .pBufferInfo = &whole};
        vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
    }
    VkCommandPoolCreateInfo commands_info = {TYPE(COMMAND_POOL_CREATE_INFO)};
    VkCommandPool commands;
    MUST(vkCreateCommandPool(device, &commands_info, NULL, &commands));
    VkCommandBufferAllocateInfo command_one = {TYPE(COMMAND_BUFFER_ALLOCATE_INFO), .commandPool = commands, .commandBufferCount = 1};

    bool as_described = true;
    for (int i = 1; i < count; i++) {
        int rows, columns;
        char over[16], operation[8];
        if (sscanf(paths[i], "%d_%d_%15[A-Za-z]_%7[a-z]", &rows, &columns, over, operation) != 4 || rows * columns > MOST)
            return 2;
        for (int at = 0; at < MOST; at++) {
            floats[0][at] = at < rows * columns ? 100 * (at / columns) + at % columns : 0;
            floats[1][at] = -1;
        }
        VkCommandBuffer command;
        MUST(vkAllocateCommandBuffers(device, &command_one, &command));
        MUST(vkBeginCommandBuffer(command, &(VkCommandBufferBeginInfo){TYPE(COMMAND_BUFFER_BEGIN_INFO)}));
        vkCmdBindPipeline(command, VK_PIPELINE_BIND_POINT_COMPUTE, make_pipeline(paths[i], layout));
        vkCmdBindDescriptorSets(command, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
        vkCmdDispatch(command, 1, 1, 1);
        VkMemoryBarrier written = {TYPE(MEMORY_BARRIER), .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
            .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
        vkCmdPipelineBarrier(command, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &written, 0, NULL, 0, NULL);
        MUST(vkEndCommandBuffer(command));
        VkSubmitInfo submission = {TYPE(SUBMIT_INFO), .commandBufferCount = 1, .pCommandBuffers = &command};
        MUST(vkQueueSubmit(queue, 1, &submission, VK_NULL_HANDLE));
        MUST(vkQueueWaitIdle(queue));
        as_described &= judge(rows, columns, over, strcmp(operation, "sum") == 0, floats[1]);
    }
    return as_described ? 0 : 1;
}
END
gcc -std=c11 -O1 -Wall -I root/usr/include reduce.c -o reduce -Wl,--allow-shlib-undefined "$libraries/libvulkan.so.1"

modules=()
# Rows, columns, over what, and the operation.
module() {
    local name=$1_$2_$3_$4.spv combined='a + b'
    [ "$4" = sum ] || combined='max(a, b)'
    run root/usr/bin/glslang -V --quiet --target-env vulkan1.3 -DROWS="$1" -DCOLUMNS="$2" -DOVER="gl_CooperativeMatrixReduce${3}NV" \
        -DCOMBINED="$combined" -o "$name" reduce.comp
    run root/usr/bin/spirv-val --target-env vulkan1.3 "$name"
    modules+=("$name")
}
for operation in maximum sum; do
    module 8 24 Row $operation
    module 24 8 Row $operation
    module 16 16 Row $operation
    module 16 24 Row $operation
    module 24 16 Row $operation
    module 8 24 Column $operation
    module 24 8 Column $operation
    module 16 16 Column $operation
    module 24 16 Column $operation
    module 16 24 Column $operation
    module 24 16 RowAndColumn $operation
done

run root/usr/bin/glslang --version | sed -n 1p
# Vectors of 256 bits: subgroups of 8, whatever the CPU.
if ! VK_DRIVER_FILES=$work/driver.json VK_LOADER_LAYERS_DISABLE='~implicit~' LP_NATIVE_VECTOR_WIDTH=256 run ./reduce "${modules[@]}"; then
    echo "changed: not what was seen" >&2
    exit 1
fi
echo "as seen: rows and columns from 8 on get the reductions of one block, which may not be theirs"
