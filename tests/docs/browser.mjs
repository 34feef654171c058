// Opens a page of the documentation in Chromium. It fails unless the page shows its formulas, asks for nothing but files and
// reports no error: `node tests/docs/browser.mjs CHROMIUM PAGE PICTURE`. Copies of the page with one fault each have to fail.
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Chromium } from './chromium.mjs';
import { header, marked } from './formulas.mjs';

const [program, page, picture] = process.argv.slice(2);
const html = fs.readFileSync(page, 'utf8');
const written = marked(html).flatMap((parts) => parts.filter((_, i) => i % 2 === 1));
if (written.length === 0) throw new Error(`${page} has no formula`);

// What the page shows: it runs in the browser.
const look = async () => {
  document.querySelectorAll('details').forEach((part) => (part.open = true));
  await document.fonts.ready;
  const shown = [...document.querySelectorAll('math')];
  const faults = shown.flatMap((formula) => {
    const { width, height } = formula.getBoundingClientRect();
    const isLaidOut = getComputedStyle(formula).display.includes('math') && width > 2 && height > 5;
    return isLaidOut ? [] : [`shows a formula as ${width} by ${height} pixels: ${formula.textContent}`];
  });
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    if (/[$\\]/.test(data) && !parentElement.closest('code, pre, script, style')) faults.push(`shows LaTeX: ${data.trim()}`);
  }
  return { count: shown.length, faults };
};

// Letters and numbers have a font of the page: those of a machine may lack them.
const fontFaults = async (call) => {
  const { root } = await call('DOM.getDocument');
  const { nodeIds } = await call('DOM.querySelectorAll', { nodeId: root.nodeId, selector: 'math mi, math mn' });
  const fonts = new Set();
  for (const nodeId of nodeIds) {
    const used = (await call('CSS.getPlatformFontsForNode', { nodeId })).fonts;
    used.filter(({ isCustomFont }) => !isCustomFont).forEach(({ familyName }) => fonts.add(familyName));
  }
  return [...fonts].map((font) => `takes letters of formulas from the machine's font ${font}`);
};

const faultsOf = async (chromium, file, savedTo) => {
  const { call, events } = await chromium.tab();
  const faults = [];
  events.on('Network.requestWillBeSent', ({ request: { url } }) => {
    if (!/^(file|data):/.test(url)) faults.push(`asks for ${url}`);
  });
  events.on('Runtime.exceptionThrown', ({ exceptionDetails: { text, exception } }) => {
    faults.push(`throws: ${text} ${exception?.description ?? ''}`);
  });
  events.on('Runtime.consoleAPICalled', ({ type, args }) => {
    if (['error', 'assert'].includes(type)) faults.push(`reports an error: ${args.map(({ value }) => value).join(' ')}`);
  });
  events.on('Log.entryAdded', ({ entry: { level, text, url } }) => {
    if (level === 'error') faults.push(`reports an error: ${text} ${url ?? ''}`);
  });
  for (const domain of ['Page', 'Network', 'Runtime', 'Log', 'DOM', 'CSS']) await call(`${domain}.enable`);
  const loaded = once(events, 'Page.loadEventFired');
  await call('Page.navigate', { url: pathToFileURL(path.resolve(file)).href });
  await Promise.race([loaded, chromium.ended]);
  const { result, exceptionDetails } = await call('Runtime.evaluate', {
    expression: `(${look})()`,
    awaitPromise: true,
    returnByValue: true,
  });
  if (exceptionDetails) throw new Error(exceptionDetails.exception.description);
  const { count, faults: seen } = result.value;
  if (count !== written.length) faults.push(`shows ${count} formulas of ${written.length}`);
  if (savedTo) {
    const { data } = await call('Page.captureScreenshot');
    fs.writeFileSync(savedTo, Buffer.from(data, 'base64'));
  }
  return [...faults, ...seen, ...(await fontFaults(call))];
};

// Copies with a fault each, and what has to be said of them.
const longest = written.reduce((a, b) => (b.length > a.length ? b : a));
const added = (text) => html.replace('</body>', `${text}</body>`);
const faulty = {
  'shows 0 formulas of': html.replace(header, ''),
  'shows LaTeX: .*\\\\unknown': html.replace(longest, () => '$\\unknown$'),
  'shows a formula as 0 by 0 pixels': added('<style>math { display: none }</style>'),
  'takes letters of formulas from': added('<style>mi { font-family: sans-serif }</style>'),
  'asks for https://': added('<img src="https://tilewise.invalid/formula.png">'),
  'throws: .*an error of the page': added('<script>throw new Error("an error of the page")</script>'),
  'reports an error: the page': added('<script>console.error("the page")</script>'),
};

const chromium = new Chromium(program, 60);
const faults = [];
try {
  faults.push(...(await faultsOf(chromium, page, picture)).map((fault) => `${page} ${fault}`));
  const base = `<head><base href="${pathToFileURL(path.resolve(page)).href}">`;
  for (const [fault, copy] of Object.entries(faulty)) {
    const file = path.join(chromium.folder, 'page.html');
    fs.writeFileSync(file, copy.replace('<head>', base));
    const found = await faultsOf(chromium, file);
    if (!found.some((one) => new RegExp(fault).test(one))) faults.push(`nobody says of a copy that it ${fault}: ${found}`);
  }
} finally {
  await chromium.end();
}
if (faults.length === 0) console.log(`Chromium shows ${written.length} formulas of ${path.basename(page)}`);
faults.forEach((fault) => console.error(fault));
process.exit(faults.length ? 1 : 0);
