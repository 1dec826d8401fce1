"""Graph layout: positions for sized boxes, and curves for edges. Independent of FX and drawing."""
