"""Pure functions for numbers, text, colours and charts, without Streamlit and runs."""
