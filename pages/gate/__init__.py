"""Who may enter, and what they may do: every request is asked here before Streamlit sees it."""
