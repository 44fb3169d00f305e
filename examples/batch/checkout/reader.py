def landing(session):
    return session.get("next_path") or "/"
