package console

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	approvalsPath   = "/settings/approvals"
	reviewLinksPath = "/settings/review-links"
)

func addApprovals(open func(string, func(*request) error)) {
	open("GET "+approvalsPath, listApprovals)
	open("GET "+reviewLinksPath, func(r *request) error { return r.showReviewLinks(http.StatusOK, "") })
	open("GET "+reviewLinksPath+"/new", guarded("", func(r *request) error {
		return r.showNewReviewLink(http.StatusOK, "")
	}))
	open("POST "+reviewLinksPath, guarded(reviewLinksPath+"/new", createReviewLink))
	open("GET "+reviewLinksPath+"/{id}/delete", func(r *request) error {
		var l reviewLink
		if err := r.api.get(r.Context(), r.apiPath("review-links"), nil, &l); err != nil {
			return err
		}
		return r.confirm(http.StatusOK, confirmation{Title: "Delete the review link", Active: approvalsPath,
			Subject: cmp.Or(l.Name, l.ID), Back: reviewLinksPath,
			Text: "The page ends at once. Whoever has its address sees nothing any more."}, "")
	})
	open("POST "+reviewLinksPath+"/{id}/delete", func(r *request) error {
		err := r.api.change(r.Context(), http.MethodDelete, r.apiPath("review-links"), r.once(), nil, nil)
		if message, other := r.form(err); other != nil {
			return other
		} else if message != "" {
			return r.showReviewLinks(http.StatusConflict, message)
		}
		return r.redirect(reviewLinksPath + "?done=deleted")
	})
}

// approvalStates are the states of the queue.
var approvalStates = []choice{{"pending,changes_requested", "All"}, {"pending", "pending"},
	{"changes_requested", "changes_requested"}}

// listApprovals shows the items that wait for a decision. What is being generated is not shown yet.
func listApprovals(r *request) error {
	given, query := r.filters("factory_id", "profile_id", "approval")
	if given["approval"] == "" {
		query.Set("approval", approvalStates[0].Value)
	}
	query.Set("state", "generated,scheduled")
	n, err := r.names()
	if err != nil {
		return err
	}
	var all []content
	next, err := r.api.list(r.Context(), "/v1/content-items", query, &all)
	message, err := form(err)
	if err != nil {
		return err
	}
	var pictures []mediaFile
	for _, c := range all {
		if p := c.Picture(); p != nil {
			pictures = append(pictures, *p)
		}
	}
	r.permitMedia(pictures...)
	v := r.view("Approvals", approvalsPath)
	v.Error = message
	v.Notice = map[string]string{
		"approve":         "The item is approved.",
		"request-changes": "Changes are requested. The item stays here until it is approved.",
	}[r.URL.Query().Get("done")]
	v.Data = map[string]any{"Items": all, "More": r.more(next), "Filters": given, "Names": n, "States": approvalStates}
	return r.show(http.StatusOK, "approvals", v)
}

// reviewLink is a review link as the API answers it.
type reviewLink struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	ItemIDs   []string  `json:"content_item_ids"`
	ProfileID *string   `json:"profile_id"`
	FactoryID *string   `json:"factory_id"`
	May       string    `json:"may"`
	ExpiresAt time.Time `json:"expires_at"`
	State     string    `json:"state"`
	URL       *string   `json:"url"`
}

// mays are what people may do on the page of a link.
var mays = []choice{{"view", "Look at the content"}, {"decide", "Also approve it and request changes"}}

func (r *request) showReviewLinks(status int, message string) error {
	n, err := r.names()
	if err != nil {
		return err
	}
	var all []reviewLink
	next, err := r.api.list(r.Context(), "/v1/review-links", cursor(r), &all)
	if err != nil {
		return err
	}
	v := r.view("Review links", approvalsPath)
	v.Error = message
	v.Notice = map[string]string{"deleted": "The review link is deleted."}[r.URL.Query().Get("done")]
	v.Data = map[string]any{"Links": all, "More": r.more(next), "Names": n}
	return r.show(status, "review-links", v)
}

// linkDraft is what the form of a review link has.
type linkDraft struct {
	Name, Factory, May, Days string
	Items                    []content
}

// Has reports whether there are chosen items. Otherwise a factory is chosen.
func (d linkDraft) Has() bool { return len(d.Items) > 0 }

// mostChosen is the number of items that a review link can have.
const mostChosen = 50

// showNewReviewLink shows the form of a link. The queue passes the chosen items on in its address.
func (r *request) showNewReviewLink(status int, message string) error {
	_ = r.ParseForm() // a form that cannot be read is empty
	d := linkDraft{Name: r.FormValue("name"), Factory: r.FormValue("factory_id"), May: r.FormValue("may"),
		Days: r.FormValue("days")}
	if d.May == "" {
		d.May = mays[1].Value
	}
	if d.Days == "" {
		d.Days = "7"
	}
	for i, id := range r.Form["item"] {
		if i == mostChosen {
			message = "A review link has at most 50 items. The others are left out."
			break
		}
		var c content
		switch err := r.api.get(r.Context(), "/v1/content-items/"+url.PathEscape(id), nil, &c); {
		case missing(err):
		case err != nil:
			return err
		default:
			d.Items = append(d.Items, c)
		}
	}
	n, err := r.names()
	if err != nil {
		return err
	}
	v := r.view("Create a review link", approvalsPath)
	v.Error = message
	v.Data = map[string]any{"Draft": d, "Names": n, "Mays": mays}
	return r.show(status, "review-link-new", v)
}

func createReviewLink(r *request) error {
	body := map[string]any{"may": r.PostFormValue("may")}
	if name := strings.TrimSpace(r.PostFormValue("name")); name != "" {
		body["name"] = name
	}
	days, err := strconv.Atoi(r.PostFormValue("days"))
	if err != nil || days < 1 || days > 30 {
		return r.showNewReviewLink(http.StatusUnprocessableEntity, "A review link is valid for 1 to 30 days.")
	}
	// The days count from the time at which the form was opened, so that a repeat of the form is the same call.
	opened, err := strconv.ParseInt(r.PostFormValue("opened"), 10, 64)
	if err != nil {
		opened = r.site.Now().Unix()
	}
	body["expires_at"] = time.Unix(opened, 0).UTC().AddDate(0, 0, days).Format(time.RFC3339)
	if items := r.PostForm["item"]; len(items) > 0 {
		body["content_item_ids"] = items
	} else {
		body["factory_id"] = r.PostFormValue("factory_id")
	}
	var made reviewLink
	err = r.api.change(r.Context(), http.MethodPost, "/v1/review-links", r.once(), body, &made)
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showNewReviewLink(http.StatusUnprocessableEntity, message)
	}
	v := r.view("The review link", approvalsPath)
	v.Data = made
	return r.show(http.StatusOK, "review-link-made", v)
}
