// Gives every text of a folder to Tint, the compiler of browsers built on Chromium, and fails if it refuses one or if there are
// too few. Usage: node check.mjs MODULES TEXTS LEAST, where MODULES has the npm package `webgpu`: Dawn with its null backend,
// which needs no driver.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, folder, least] = process.argv.slice(2);
const { create, globals } = await import(pathToFileURL(path.resolve(modules, 'webgpu/index.js')));
Object.assign(globalThis, globals);
console.warn = () => {}; // Dawn repeats each message there

const gpu = create(['backend=null']);
const open = async (requiredFeatures) => (await gpu.requestAdapter()).requestDevice({ requiredFeatures });
const plain = await open([]);
const full = await open(['shader-f16', 'subgroups']);

const SUBGROUPS = /\bsubgroup[A-Z]\w*\(|@builtin\((num_)?subgroup/;
const refused = new Map(); // texts by the compiler's message
const counts = { all: 0, 'of f16': 0, 'of subgroups': 0, 'dims in immediates': 0 };
for (const file of fs.readdirSync(folder).sort()) {
    let code = fs.readFileSync(path.join(folder, file), 'utf8');
    const [halves, subgroups] = [/^enable f16;/m.test(code), SUBGROUPS.test(code)];
    counts.all += 1;
    counts['of f16'] += halves;
    counts['of subgroups'] += subgroups;
    counts['dims in immediates'] += code.includes('var<immediate>');
    // naga 30 refuses this line, so that no text has it; wgpu 30 offers no subgroups in browsers.
    if (subgroups) code = `enable subgroups;\n${code}`;
    const device = halves || subgroups ? full : plain;
    device.pushErrorScope('validation');
    const module = device.createShaderModule({ code });
    const { messages } = await module.getCompilationInfo();
    const error = await device.popErrorScope();
    if (!error) continue;
    const first = [...messages].find(({ type }) => type === 'error');
    const line = first ? code.split('\n')[first.lineNum - 1]?.trim() : '';
    const message = (first?.message ?? error.message).split('\n')[0];
    const found = refused.get(message) ?? [];
    refused.set(message, [...found, `${file}, ${code.split('\n').find((l) => l.startsWith('// '))}: ${line}`]);
}
const kinds = Object.entries(counts).map(([kind, count]) => (kind === 'all' ? `${count} texts` : `${count} ${kind}`));
console.log(`Tint was given ${kinds.join(', ')}`);
for (const [message, texts] of refused) {
    console.error(`Tint refuses ${texts.length}: ${message}`);
    texts.slice(0, 3).forEach((text) => console.error(`    ${text}`));
}
if (counts.all < Number(least)) console.error(`${counts.all} texts are fewer than ${least}: a list is missing`);
process.exit(refused.size > 0 || counts.all < Number(least) ? 1 : 0);
