// Reads a list of [file, text] and prints the ids that Kitoken gives for each.
import fs from "fs";
import { Kitoken } from "kitoken/node";

const asked = JSON.parse(fs.readFileSync(0, "utf8"));
const ids = ([file, text]) => {
  try {
    return Array.from(new Kitoken(fs.readFileSync(file)).encode(text, true));
  } catch (error) {
    return [String(error)];
  }
};
console.log(JSON.stringify(asked.map(ids)));
