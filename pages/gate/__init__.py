"""The gate: it decides who may enter and what they may do, before Streamlit sees a request."""
