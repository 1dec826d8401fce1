"""Pure: numbers, text, colours and charts. No Streamlit, no run."""
