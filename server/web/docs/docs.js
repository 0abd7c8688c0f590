"use strict";
// Lists the operations of /openapi.json. Everything from the document is set as
// text, never as markup.

const methods = ["get", "post", "put", "patch", "delete"];

function node(tag, text, ...children) {
  const n = document.createElement(tag);
  if (text) n.textContent = text;
  n.append(...children.filter(Boolean));
  return n;
}

function resolve(doc, schema) {
  const seen = new Set();
  while (schema && schema.$ref && !seen.has(schema.$ref)) {
    seen.add(schema.$ref);
    schema = doc.components.schemas[schema.$ref.split("/").pop()];
  }
  return schema || {};
}

function typeName(schema) {
  if (!schema) return "any";
  if (schema.$ref) return schema.$ref.split("/").pop();
  const types = [].concat(schema.type || "any");
  const name = types.includes("array") ? "[" + typeName(schema.items) + "]" : types.join(" | ");
  return schema.format ? name + " (" + schema.format + ")" : name;
}

function bounds(schema) {
  const parts = [];
  if (schema.enum) parts.push(schema.enum.join(", "));
  for (const [key, word] of [["minimum", "≥"], ["maximum", "≤"], ["minLength", "length ≥"], ["maxLength", "length ≤"], ["minItems", "items ≥"], ["maxItems", "items ≤"]]) {
    if (schema[key] !== undefined) parts.push(word + " " + schema[key]);
  }
  if (schema.pattern) parts.push(schema.pattern);
  if (schema.default !== undefined) parts.push("default " + JSON.stringify(schema.default));
  return parts.join("; ");
}

function row(name, schema, required, about) {
  return node("tr", "",
    node("td", "", node("code", name), required ? node("span", " required") : null),
    node("td", "", node("code", typeName(schema))),
    node("td", [about || schema.description, bounds(schema)].filter(Boolean).join(" — ")));
}

function members(doc, schema) {
  const s = resolve(doc, schema);
  if (!s.properties) return node("p", "", node("code", typeName(schema)));
  const rows = Object.entries(s.properties).map(([name, p]) => row(name, p, (s.required || []).includes(name)));
  return node("table", "", node("tbody", "", ...rows));
}

function content(body) {
  return body && body.content ? Object.values(body.content)[0].schema : null;
}

function operation(doc, path, method, op) {
  const scopes = (op.security || []).flatMap((s) => Object.values(s).flat());
  const out = node("details", "", node("summary", "", node("b", method.toUpperCase()), node("code", path), node("span", op.summary)));
  if (op.description) out.append(node("p", op.description));
  out.append(node("p", scopes.length ? "Scope: " + scopes.join(", ") : "Any valid token."));
  if (op.parameters && op.parameters.length) {
    const rows = op.parameters.map((p) => row(p.in + " " + p.name, p.schema || {}, p.required, p.description));
    out.append(node("h4", "Parameters"), node("table", "", node("tbody", "", ...rows)));
  }
  if (content(op.requestBody)) out.append(node("h4", "Body: " + typeName(content(op.requestBody))), members(doc, content(op.requestBody)));
  for (const [status, answer] of Object.entries(op.responses || {})) {
    out.append(node("h4", status + " " + (answer.description || "")));
    if (status < "300" && content(answer)) out.append(members(doc, content(answer)));
  }
  out.dataset.text = (method + " " + path + " " + op.summary + " " + op.operationId).toLowerCase();
  return out;
}

function show(doc) {
  const groups = new Map();
  for (const [path, item] of Object.entries(doc.paths)) {
    for (const method of methods.filter((m) => item[m])) {
      const tag = (item[method].tags || ["other"])[0];
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push(operation(doc, path, method, item[method]));
    }
  }
  document.getElementById("version").textContent = doc.info.version;
  document.getElementById("about").textContent = doc.info.description || "";
  const list = document.getElementById("operations");
  list.replaceChildren();
  for (const [tag, operations] of groups) {
    const heading = node("h2", tag);
    heading.id = tag;
    const link = node("a", tag);
    link.href = "#" + tag;
    document.getElementById("tags").append(link);
    list.append(node("section", "", heading, ...operations));
  }
}

function find(text) {
  const wanted = text.toLowerCase().trim();
  for (const section of document.querySelectorAll("section")) {
    let shown = 0;
    for (const d of section.querySelectorAll("details")) {
      d.hidden = !d.dataset.text.includes(wanted);
      if (!d.hidden) shown++;
    }
    section.hidden = shown === 0;
  }
}

document.getElementById("find").addEventListener("input", (e) => find(e.target.value));
fetch("/openapi.json")
  .then((answer) => answer.json())
  .then(show)
  .catch(() => { document.getElementById("operations").textContent = "The document could not be loaded."; });
