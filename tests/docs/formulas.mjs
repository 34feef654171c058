// What the pages of the documentation carry, and the formulas that a page has before a browser opens it.
import fs from 'node:fs';

export const header = fs.readFileSync(new URL('../../src/formulas.html', import.meta.url), 'utf8').trim();
const script = header.match(/<script>(.*)<\/script>/s)[1];
export const formulas = new Function(`${script}; return formulas;`)();

const entities = { lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'", '#x27': "'" };
const text = (html) => html.replace(/&(lt|gt|quot|amp|#39|#x27);/g, (_, name) => entities[name]);

// The texts of a page with a dollar sign outside code, each in its parts: odd ones are formulas.
export const marked = (html) =>
  html
    .replace(/<(code|pre|script|style)\b.*?<\/\1>/gs, '<code>')
    .split(/<[^>]*>/)
    .filter((part) => part.includes('$'))
    .map((part) => text(part).split(formulas.pattern));
