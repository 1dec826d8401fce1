// Downloads: the drawn graph as an SVG that needs no style sheet, or as a PNG of it.
const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "opacity"];
const MOST_PIXELS = 60_000_000;

function standalone(root, svg, picture) {
  const far = root.querySelectorAll(".far");
  for (const element of far) element.classList.remove("far");
  const copy = svg.cloneNode(true);
  const [originals, copies] = [svg.querySelectorAll("*"), copy.querySelectorAll("*")];
  originals.forEach((original, index) => {
    const style = getComputedStyle(original);
    for (const name of STYLES) copies[index].setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "style", "id", "data-item", "role", "aria-label", "aria-selected"]) copies[index].removeAttribute(name);
  });
  for (const element of far) element.classList.add("far");
  const [width, height] = [Math.ceil(picture.width) + 32, Math.ceil(picture.height) + 32];
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("viewBox", `-16 -16 ${width} ${height}`);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const paper = make("rect", { x: -16, y: -16, width, height, fill: getComputedStyle(root).backgroundColor });
  copy.prepend(paper);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function saveSvg(root, svg, picture, name) {
  save(new Blob([standalone(root, svg, picture).text], { type: "image/svg+xml" }), `${name}.svg`);
}

function savePng(root, svg, picture, name) {
  const { text, width, height } = standalone(root, svg, picture);
  const scale = Math.min(2, Math.sqrt(MOST_PIXELS / (width * height)), 16_000 / Math.max(width, height));
  const image = new Image();
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  image.onload = () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [Math.ceil(width * scale), Math.ceil(height * scale)];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(address);
    canvas.toBlob((blob) => blob && save(blob, `${name}.png`), "image/png");
  };
  image.src = address;
}
