"""Gate of the server: checks access and rights before Streamlit gets a request."""
