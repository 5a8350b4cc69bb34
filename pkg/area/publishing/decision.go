package publishing

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// ReviewOperation is the operation of decisions of review links in the audit log.
const ReviewOperation = "review.decide"

const (
	// mostNote bounds the characters of a note, and mostForm the bytes of a form, which has the notes of all items.
	mostNote, mostForm = 2000, 1 << 20
	// undo makes the last decision of the link about an item void.
	undo = "undo"
)

// Why a decision was not made, as texts of the page.
const (
	failedForm     = "The form could not be read. Nothing was changed."
	failedPart     = "The form is incomplete. Nothing was changed."
	failedRight    = "This link does not permit decisions."
	failedGone     = "The post is not on this page any more. Nothing was changed."
	failedLong     = "A note has up to 2000 characters."
	failedNote     = "Write in the note what is to be changed."
	failedChanged  = "The post has changed since you opened this page. It is shown as it is now: decide again."
	failedApproved = "The post was approved already."
	failedOthers   = "Others have decided about the post since. It is shown as it is now."
	failedEnded    = "The post is published, or is being published. It cannot be decided about any more."
)

// decision is the form of a page. Its button has the decision, the id of the item and the version that the page has
// shown: all notes are in one form, so that a decision about one item keeps what was typed about the others.
type decision struct {
	what, itemID string
	version      int64
	notes        map[string]string
}

// Form returns the form of a decision about an item, as its page sends it.
func Form(itemID string, version int64, what, note string) map[string][]string {
	return map[string][]string{"decision": {what + " " + itemID + " " + strconv.FormatInt(version, 10)},
		"note-" + itemID: {note}}
}

// decisionOf reads a form. It reports whether the form is complete.
func decisionOf(req *http.Request) (d decision, complete bool) {
	d.notes = map[string]string{}
	for name, values := range req.PostForm {
		if itemID, ok := strings.CutPrefix(name, "note-"); ok {
			if note := strings.TrimSpace(values[0]); note != "" {
				d.notes[itemID] = note
			}
		}
	}
	parts := strings.Split(req.PostForm.Get("decision"), " ")
	if len(parts) != 3 {
		return d, false
	}
	version, err := strconv.ParseInt(parts[2], 10, 64)
	d.what, d.itemID, d.version = parts[0], parts[1], version
	return d, err == nil
}

// refused says why a form is not a decision about one of the shown items, with the status: 0 if it is one.
func (d decision) refused(all []*item.Record) (status int, why string) {
	switch note := d.notes[d.itemID]; {
	case d.what != item.Approved && d.what != item.ChangesRequested && d.what != undo,
		!slices.ContainsFunc(all, func(r *item.Record) bool { return r.ID == d.itemID }):
		return http.StatusBadRequest, failedGone
	case len([]rune(note)) > mostNote:
		return http.StatusUnprocessableEntity, failedLong
	case d.what == item.ChangesRequested && note == "":
		return http.StatusUnprocessableEntity, failedNote
	}
	return 0, ""
}

// decide notes the decision of a form. It goes back to the page, or shows it with the notes that were typed about other
// items. The page stays where it is: a redirect has the id of the item as its fragment, and a page that follows the
// form itself has the focus at the item. Browsers ignore such a focus if the address has a fragment, so that of the
// form has none.
func (s *Service) decide(ctx context.Context, req *http.Request, l *linkRecord, it store.Item, c choices) page {
	began := s.now()
	req.Body = http.MaxBytesReader(nil, req.Body, mostForm)
	show := func(status int, why string, d decision) page {
		return s.view(ctx, l, it, shown{choices: c, last: d.itemID, status: status, failed: why, notes: d.notes})
	}
	if err := req.ParseForm(); err != nil {
		return show(http.StatusBadRequest, failedForm, decision{})
	}
	all, err := s.reviewed(ctx, l, it)
	if err != nil {
		slog.Error("review page not read", "link", l.ID, "error", err)
		return pageBroken.in(c)
	}
	d, complete := decisionOf(req)
	switch {
	case l.May != mayDecide:
		return show(http.StatusForbidden, failedRight, d)
	case !complete:
		return show(http.StatusBadRequest, failedPart, d)
	}
	if status, why := d.refused(all); status != 0 {
		return show(status, why, d)
	}
	ctx = resource.WithConcern(ctx)
	err = s.commit(ctx, l, d)
	s.record(ctx, l, it, d, err, began)
	if err != nil && !done(all, d, l.ID) {
		status, why := refusal(err, all, d.itemID)
		if why == "" {
			slog.Error("decision not written", "link", l.ID, "error", err)
			return pageBroken.in(c)
		}
		return show(status, why, d)
	}
	delete(d.notes, d.itemID)
	if len(d.notes) > 0 {
		return show(http.StatusOK, "", d)
	}
	return page{after: c.after(d)}
}

// done reports whether the link has made the decision before: the form was sent twice.
func done(all []*item.Record, d decision, linkID string) bool {
	return slices.ContainsFunc(all, func(r *item.Record) bool {
		return r.ID == d.itemID && d.what == item.Approved && r.Approval.State == d.what && r.Approval.By != nil &&
			*r.Approval.By == linkID && r.Version > d.version
	})
}

// refusal says why a decision was refused, and an empty text if the service has failed.
func refusal(err error, all []*item.Record, itemID string) (status int, why string) {
	switch errs.CodeOf(err) {
	case errs.VersionMismatch:
		return http.StatusConflict, failedChanged
	case errs.NotFound:
		return http.StatusNotFound, failedGone
	case errs.InvalidState:
		for _, r := range all {
			switch {
			case r.ID != itemID:
			case r.Permit(item.RequestChanges) != nil:
				return http.StatusConflict, failedEnded
			case r.Approval.State == item.Approved:
				return http.StatusConflict, failedApproved
			}
		}
		return http.StatusConflict, failedOthers
	}
	return http.StatusServiceUnavailable, ""
}

// commit writes a decision about the version of an item that was seen.
func (s *Service) commit(ctx context.Context, l *linkRecord, d decision) error {
	seen := httpapi.IfMatch{IfMatch: httpapi.ETag(d.version)}
	return s.db.Change(ctx, func(tx *store.Tx) (err error) {
		if d.what == undo {
			_, err = s.content.Withdraw(ctx, tx, d.itemID, seen)
		} else {
			_, err = s.content.Decide(ctx, tx, d.itemID, d.what, d.notes[d.itemID], l.Authority, seen)
		}
		return err
	})
}

// record writes a decision to the audit log of the customer, under the link.
func (s *Service) record(ctx context.Context, l *linkRecord, it store.Item, d decision, failure error,
	began time.Time) {
	g, status, code := httpapi.GatewayOf(ctx), http.StatusSeeOther, errs.Code("")
	if failure != nil {
		code = errs.CodeOf(failure)
		status, _ = httpapi.Status(code)
	}
	if !g.ReceivedAt.IsZero() {
		began = g.ReceivedAt
	}
	path := PagePath + l.ID + "/" + d.itemID
	if d.what == undo {
		path += "/" + undo
	}
	err := s.audit.Record(context.WithoutCancel(ctx), httpapi.Call{
		RequestID: g.RequestID, Principal: &auth.Principal{Owner: it.Owner,
			Actor: auth.Actor{Kind: auth.ReviewLink, ID: l.ID}},
		OperationID: ReviewOperation, Method: http.MethodPost, Path: path, Status: status,
		ErrorCode: string(code), IP: g.SourceIP, UserAgent: g.UserAgent, At: began, Latency: s.now().Sub(began),
		Concern: resource.ConcernOf(ctx),
	})
	if err != nil {
		slog.Error("audit entry lost", "request_id", g.RequestID, "operation_id", ReviewOperation, "error", err)
	}
}
