def remember(session, page):
    session["page"] = page
