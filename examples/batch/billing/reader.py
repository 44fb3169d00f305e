def landing(session):
    return session.get("return_to") or "/"
