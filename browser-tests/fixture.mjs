// A bench folder to report on: a real bench on built-in data with few epochs, one run of it turned into a failed one, studies made by hand.
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const ERROR = "out of memory </script><b>& more</b>";

export function bench(treering, folder) {
  const call = ["bench", "--data", "demo", "--scale", "0.1", "--protocol", "paper", "single", "--seeds", "3", "--out", folder, "--quiet"];
  const set = values => values.flatMap(value => ["--set", value]);
  const finetune = set(["finetune.epochs=5", "finetune.hidden=8"]), tpp = set(["tpp.epochs=5", "tpp.hidden=8", "tpp.contrastive.epochs=2"]);
  const run = more => execFileSync(treering, [...call, ...more], { stdio: ["ignore", "ignore", "inherit"] });
  run(["--learner", "finetune", "finetune+tp", "tpp", ...finetune, ...tpp]);
  for (const tokens of [1, 6]) run(["--learner", "tpp", ...tpp, ...set([`tpp.tokens=${tokens}`])]);
  const file = join(folder, "results.jsonl");
  const lines = readFileSync(file, "utf8").trim().split("\n").map(line => JSON.parse(line));
  const lost = lines.find(line => line.learner === "finetune" && line.protocol === "paper" && line.seed === 2);
  for (const field of ["tasks", "classes", "synthetic", "aa", "af", "task_id_accuracy", "micro_accuracy", "macro_f1", "matrix", "learning_curve", "stored", "stored_floats_per_task", "measured"]) lost[field] = null;
  Object.assign(lost, { status: "failed", error: ERROR });
  writeFileSync(file, lines.map(line => JSON.stringify(line) + "\n").join(""));
  writeFileSync(join(folder, "command.txt"), "treering bench --data demo --learner 'a<b'\n");
  cpSync(join(here, "studies"), join(folder, "studies"), { recursive: true });
  return { lines, error: ERROR };
}

// Mean and deviation of a sample, as the table writes them: worked out here anew, to check the program against.
export function spread(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const std = Math.sqrt(squares / (values.length - 1));
  const written = mean.toFixed(1).replace(/^-0\.0$/, "0.0");
  return { mean, text: values.length > 1 ? `${written} ± ${std.toFixed(1)}` : written };
}
