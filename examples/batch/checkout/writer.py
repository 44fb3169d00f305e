def remember(session, page):
    session["return_to"] = page
