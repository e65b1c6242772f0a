// Answers questions about URLs with the package: JSON from standard input, JSON to standard output.
//
//   node answers.mjs ENTRY < [{"rules": […], "urls": […]}, …]
//
// A rule may be given as one line of text, as in the conformance file.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { load, normalize, parseRule, RuleError } = await import(pathToFileURL(process.argv[2]));

function spelledOut({ text, ...rule }) {
  return text === undefined ? rule : { ...rule, ...parseRule(text) };
}

function answer({ rules, urls }) {
  try {
    const file = { format: "undust-rules", version: 2, rules: rules.map(spelledOut) };
    const loaded = load(file);
    return urls.map((url) => {
      const explained = loaded.explain(url);
      return {
        canonical: loaded.canonical(url),
        key: loaded.key(url),
        normalized: normalize(url),
        explained: {
          ...explained,
          steps: explained.steps.map((step) => [step.number, step.url]),
          compared: explained.compared.map((step) => [step.number, step.url]),
          masks: explained.masks.map((step) => [step.number, step.url]),
        },
      };
    });
  } catch (error) {
    if (!(error instanceof RuleError)) throw error;
    return { error: error.message };
  }
}

const questions = JSON.parse(readFileSync(0, "utf-8"));
process.stdout.write(JSON.stringify(questions.map(answer)));
