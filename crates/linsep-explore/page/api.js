// The interface of the server, version 1. docs/explore.md describes it.

const token = new URLSearchParams(location.search).get("token") ?? "";
const headers = { Authorization: `Bearer ${token}` };

/** Something that went wrong: a message, and where there is one, what to do about it. */
export class Failure extends Error {
  constructor(message, help) {
    super(message);
    this.help = help ?? null;
  }
}

const gone = "The server does not respond. Is linsep explore still running?";

async function asked(path, options = {}) {
  let response;
  try {
    response = await fetch(`/api/v1/${path}`, { headers, ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(gone);
  }
  if (response.ok) return response;
  let error = null;
  try {
    error = (await response.json()).error;
  } catch {
    // Not an answer of this server.
  }
  throw new Failure(error?.message ?? `The server answered ${response.status}.`, error?.help);
}

export const about = async () => (await asked("about")).json();
export const summary = async (id) => (await asked(`data/${encodeURIComponent(id)}`)).json();

export async function points(id, only) {
  const which = only?.length ? `?only=${encodeURIComponent(JSON.stringify(only))}` : "";
  return arrays(await (await asked(`data/${encodeURIComponent(id)}/points${which}`)).arrayBuffer());
}

export const dataFile = async (id) => (await asked(`data/${encodeURIComponent(id)}/file`)).blob();
export const part = async (id, name) => (await asked(`results/${id}/${name}`)).blob();
export const drawing = async (id, signal) =>
  arrays(await (await asked(`results/${id}/drawing`, { signal })).arrayBuffer());

/** Runs a job. `hear` gets each line that comes before the result; without its history only the result can be drawn. */
export async function run(spec, { signal, hear, history = true } = {}) {
  const response = await asked(history ? "run" : "run?history=false", { method: "POST", body: JSON.stringify(spec), signal });
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let result = null;
  for (;;) {
    let piece;
    try {
      piece = await reader.read();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Failure(gone);
    }
    text += decoder.decode(piece.value ?? new Uint8Array(), { stream: !piece.done });
    const lines = text.split("\n");
    text = lines.pop();
    for (const line of lines) result = heard(line, hear) ?? result;
    if (piece.done) break;
  }
  if (!result) throw new Failure(gone);
  return result.result;
}

function heard(line, hear) {
  if (!line) return null;
  const value = JSON.parse(line);
  if (value?.error) throw new Failure(value.error.message, value.error.help);
  if (value?.result || value?.data) return value;
  if (value) hear?.(value);
  return null;
}

/** Sends a file. `hear` gets how much was sent, then how much was read. */
export function send(file, name, options, { signal, hear } = {}) {
  return new Promise((resolve, reject) => {
    // Only this kind of request tells how much of a file is sent.
    const request = new XMLHttpRequest();
    let seen = 0;
    let result = null;
    const take = () => {
      const lines = request.responseText.slice(seen).split("\n");
      const rest = lines.pop();
      seen = request.responseText.length - rest.length;
      for (const line of lines) result = heard(line, hear) ?? result;
    };
    const failed = () => {
      try {
        const error = JSON.parse(request.responseText).error;
        reject(new Failure(error.message, error.help));
      } catch {
        reject(new Failure(gone));
      }
    };
    request.upload.onprogress = (event) => {
      const share = event.lengthComputable ? event.loaded / event.total : null;
      hear?.({ progress: { text: `sending ${megabytes(event.loaded)}`, share } });
    };
    request.onprogress = () => {
      if (request.status === 200) try { take(); } catch (error) { reject(error); request.abort(); }
    };
    request.onload = () => {
      if (request.status !== 200) return failed();
      try {
        take();
        if (result) resolve(result.data);
        else reject(new Failure(gone));
      } catch (error) {
        reject(error);
      }
    };
    request.onerror = failed;
    request.onabort = () => reject(new DOMException("called off", "AbortError"));
    signal?.addEventListener("abort", () => request.abort());
    const query = new URLSearchParams({ name });
    if (options && Object.keys(options).length) query.set("options", JSON.stringify(options));
    request.open("POST", `/api/v1/data?${query}`);
    request.setRequestHeader("Authorization", headers.Authorization);
    request.send(file);
  });
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;

const KINDS = { F64: Float64Array, F32: Float32Array, U32: Uint32Array, U8: Uint8Array, I8: Int8Array };

/** Named arrays of a safetensors file, and what is said about them. */
export function arrays(buffer) {
  const view = new DataView(buffer);
  const length = Number(view.getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const found = { about: {} };
  for (const [name, value] of Object.entries(header.__metadata__ ?? {})) found.about[name] = JSON.parse(value);
  for (const [name, tensor] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const [start, end] = tensor.data_offsets;
    // Copied, because an array must begin at a multiple of the size of its numbers.
    found[name] = new KINDS[tensor.dtype](buffer.slice(8 + length + start, 8 + length + end));
  }
  return found;
}
