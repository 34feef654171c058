// Converts every formula on the pages of the documentation with the script that they carry, and looks for what Markdown has
// taken apart: `node tests/docs/check.mjs target/doc/tilewise`. `.ci/run` calls it.
import fs from 'node:fs';
import path from 'node:path';
import { formulas, header, marked } from './formulas.mjs';

const folder = process.argv[2];

// What the formulas of examples become: the converter is right, not only silent.
const examples = {
  '$x_{i}^2$': '<math><msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup></math>',
  '$\\frac12 g$': '<math><mrow><mfrac><mn>1</mn><mn>2</mn></mfrac><mi>g</mi></mrow></math>',
  "$f'(a)\\,b$":
    '<math><mrow><msup><mi>f</mi><mo>′</mo></msup><mo stretchy="false">(</mo><mi>a</mi><mo stretchy="false">)</mo>' +
    '<mspace width="0.1667em"></mspace><mi>b</mi></mrow></math>',
  '$\\max_{i} \\ln(x)$':
    '<math><mrow><msub><mo lspace="0.1667em" rspace="0.1667em">max</mo><mi>i</mi></msub>' +
    '<mo lspace="0.1667em" rspace="0em">ln</mo><mo stretchy="false">(</mo><mi>x</mi><mo stretchy="false">)</mo></mrow></math>',
  '$$\\sum_{j} |a| < \\tilde y$$':
    '<math display="block"><mrow><munder><mo>∑</mo><mi>j</mi></munder><mo stretchy="false" lspace="0em" rspace="0em">|</mo>' +
    '<mi>a</mi><mo stretchy="false" lspace="0em" rspace="0em">|</mo><mo>&lt;</mo><mover accent="true"><mi>y</mi><mo stretchy="false">~</mo></mover></mrow></math>',
  '$\\left(\\frac12\\right)^2$':
    '<math><msup><mrow><mo stretchy="true">(</mo><mfrac><mn>1</mn><mn>2</mn></mfrac><mo stretchy="true">)</mo></mrow>' +
    '<mn>2</mn></msup></math>',
};
const faults = [];
for (const [text, want] of Object.entries(examples)) {
  const found = formulas.ofMarked(text);
  if (found !== want) faults.push(`${text} became ${found}`);
}
for (const wrong of ['$\\unknown$', '$a_{b$', '$\\frac{1}$', '$\\left(a$', '$\\left(a\\right$']) {
  try {
    faults.push(`${wrong} became ${formulas.ofMarked(wrong)}`);
  } catch {
    // It must be an error.
  }
}

let [pages, count] = [0, 0];
for (const name of fs.readdirSync(folder, { recursive: true })) {
  if (!name.endsWith('.html')) continue;
  const html = fs.readFileSync(path.join(folder, name), 'utf8');
  if (html.includes('http-equiv="refresh"')) continue; // it leads to another page
  pages++;
  if (!html.includes(header)) faults.push(`${name}: does not carry src/formulas.html`);
  for (const parts of marked(html)) {
    parts.forEach((piece, i) => {
      if (i % 2 === 0) {
        if (piece.includes('$')) faults.push(`${name}: Markdown has taken a formula apart: ${piece.trim()}`);
        return;
      }
      count++;
      try {
        formulas.ofMarked(piece);
      } catch (error) {
        faults.push(`${name}: ${error.message}`);
      }
    });
  }
}
const rotary = fs.readFileSync(path.join(folder, 'ops', 'struct.Rotary.html'), 'utf8');
if (!formulas.pattern.test(rotary)) faults.push('ops/struct.Rotary.html: no formula');
console.log(`${count} formulas on ${pages} pages`);
if (count < 1200) faults.push(`fewer than 1,200 formulas: ${count}`);
faults.forEach((fault) => console.error(fault));
process.exit(faults.length ? 1 : 0);
