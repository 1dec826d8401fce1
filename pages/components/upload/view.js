// Called again whenever the data or the theme changes: a running upload continues.
import { element } from "../js/shared.js";
/** @import { Arguments } from "../js/types.d.ts" */
/** @import { UploadData } from "../js/wire.d.ts" */

/** @type {WeakMap<HTMLElement, Upload>} */
const uploads = new WeakMap();

/** @param {Arguments<UploadData>} args */
export default function ({ data, parentElement, setTriggerValue }) {
  const stored = (/** @type {string} */ run) => setTriggerValue("stored", run);
  const upload = uploads.get(parentElement) ?? new Upload(parentElement, data, stored);
  uploads.set(parentElement, upload);
  Object.assign(upload, { data, stored });
  if (!upload.request) upload.ask();
}

class Upload {
  /** @type {XMLHttpRequest | null} */
  request = null;
  hasProblem = false;

  /** @param {HTMLElement} root @param {UploadData} data @param {(run: string) => void} stored */
  constructor(root, data, stored) {
    this.data = data;
    this.stored = stored;
    this.zone = element("label", "zone");
    this.input = Object.assign(element("input", "pick"), { type: "file" });
    this.input.setAttribute("aria-label", data.profile_of ? "Profile" : "Trace log");
    this.text = element("span", "text");
    this.text.setAttribute("role", "status");
    this.bar = Object.assign(element("progress", "bar"), { max: 1, value: 0, hidden: true });
    this.bar.setAttribute("aria-label", "Sent");
    this.stop = Object.assign(element("button", "stop", "Cancel"), { type: "button", hidden: true });
    this.zone.append(this.input, this.text);
    root.append(this.zone, this.bar, this.stop);
    this.input.onchange = () => this.send(this.input.files?.[0]);
    this.stop.onclick = () => this.request?.abort();
    this.zone.ondragover = (event) => (event.preventDefault(), this.zone.classList.add("over"));
    this.zone.ondragleave = () => this.zone.classList.remove("over");
    this.zone.ondrop = (event) => {
      event.preventDefault();
      this.zone.classList.remove("over");
      this.send(event.dataTransfer?.files[0]);
    };
  }

  ask() {
    if (!this.hasProblem) {
      this.text.textContent = `Drop ${this.data.asks} here, or pick one: at most ${this.data.words}.`;
    }
  }

  /** @param {string} words @param {boolean} [bad] */
  tell(words, bad = false) {
    this.hasProblem = bad;
    this.text.textContent = words;
    this.zone.classList.toggle("bad", bad);
  }

  /** @param {File | undefined} file */
  send(file) {
    if (!file || this.request) return;
    if (file.size > this.data.most) {
      return this.tell(`${file.name} is larger than the ${this.data.words} that this server takes.`, true);
    }
    const url = new URL("upload", document.baseURI);
    url.searchParams.set("name", file.name);
    if (this.data.profile_of) url.searchParams.set("profile_of", this.data.profile_of);
    const request = (this.request = new XMLHttpRequest());
    request.open("POST", url);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.responseType = "json";
    request.upload.onprogress = ({ loaded, total }) => this.progress(file, loaded, total);
    request.onload = () =>
      this.ended(request.response?.run, request.response?.problem ?? `The server answered ${request.status}.`);
    request.onerror = () => this.ended(null, "The upload was interrupted; nothing was stored.");
    request.onabort = () => this.ended(null, "Cancelled; nothing was stored.");
    this.progress(file, 0, file.size);
    request.send(file);
  }

  /** @param {File} file @param {number} sent @param {number} total */
  progress(file, sent, total) {
    this.tell(sent < total ? `Sending ${file.name}: ${Math.floor((100 * sent) / total)} %` : `Storing ${file.name}…`);
    Object.assign(this.bar, { hidden: false, value: total ? sent / total : 0 });
    this.stop.hidden = false;
  }

  /** @param {string | null} run @param {string} problem */
  ended(run, problem) {
    this.request = null;
    this.input.value = "";
    this.bar.hidden = this.stop.hidden = true;
    if (!run) return this.tell(problem, true);
    this.tell("Opening…");
    this.stored(run);
  }
}
