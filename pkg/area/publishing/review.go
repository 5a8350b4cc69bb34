package publishing

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
)

// PagePath is the beginning of the addresses of review pages. The token follows.
const PagePath = "/review/"

// ReviewOperation is the operation of decisions of review links in the audit log.
const ReviewOperation = "review.decide"

const (
	// mostNote bounds the characters of a note, and mostForm the bytes of a form.
	mostNote, mostForm = 2000, 32 << 10
	// maxTries bounds the attempts at a decision that conflicts with concurrent changes.
	maxTries = 4
)

// With returns the handler of the function: the operations, and the page of review links.
func (s *Service) With(operations http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		token, ok := strings.CutPrefix(req.URL.Path, PagePath)
		if !ok {
			operations.ServeHTTP(w, req)
			return
		}
		s.serve(req, token).write(w, req.Method)
	})
}

// serve returns the page of a request.
func (s *Service) serve(req *http.Request, token string) page {
	ctx := req.Context()
	l, it, p, err := s.opened(ctx, token)
	switch {
	case err != nil:
		slog.Error("review link not read", "error", err)
		return pageBroken
	case l == nil:
		return pageGone
	}
	// Whoever has the link acts with the rights of who has made it.
	p.Actor = auth.Actor{Kind: auth.ReviewLink, ID: l.ID}
	ctx = auth.NewContext(ctx, p)
	switch req.Method {
	case http.MethodGet, http.MethodHead:
		return s.view(ctx, l, it, notices[req.URL.Query().Get("done")])
	case http.MethodPost:
		return s.decide(ctx, req, l, it)
	}
	return page{Status: http.StatusMethodNotAllowed, Title: "Open the link in a browser", allow: "GET, HEAD, POST"}
}

// notices are the results of decisions, by the parameter of the address after them.
var notices = map[string]string{
	item.Approved:         "The post is approved.",
	item.ChangesRequested: "Your request for changes was sent.",
}

// decide notes the decision of a form, and goes back to the page.
func (s *Service) decide(ctx context.Context, req *http.Request, l *linkRecord, it store.Item) page {
	began := s.now()
	req.Body = http.MaxBytesReader(nil, req.Body, mostForm)
	if err := req.ParseForm(); err != nil {
		return s.failed(ctx, l, it, http.StatusBadRequest, "The form could not be read. Nothing was changed.")
	}
	itemID, decision, note := req.PostForm.Get("item"), req.PostForm.Get("decision"),
		strings.TrimSpace(req.PostForm.Get("note"))
	seen, malformed := strconv.ParseInt(req.PostForm.Get("version"), 10, 64)
	shown, err := s.reviewed(ctx, l, it)
	if err != nil {
		slog.Error("review page not read", "link", l.ID, "error", err)
		return pageBroken
	}
	switch {
	case l.May != mayDecide:
		return s.failed(ctx, l, it, http.StatusForbidden, "This link does not permit decisions.")
	case malformed != nil:
		return s.failed(ctx, l, it, http.StatusBadRequest, "The form is incomplete. Nothing was changed.")
	case notices[decision] == "" || !slices.ContainsFunc(shown, func(r *item.Record) bool { return r.ID == itemID }):
		return s.failed(ctx, l, it, http.StatusBadRequest, "The post is not on this page any more. Nothing was changed.")
	case len([]rune(note)) > mostNote:
		return s.failed(ctx, l, it, http.StatusUnprocessableEntity, fmt.Sprintf("A note has up to %d characters.", mostNote))
	case decision == item.ChangesRequested && note == "":
		return s.failed(ctx, l, it, http.StatusUnprocessableEntity, "Write in the note what is to be changed.")
	}
	err = s.commit(ctx, l, itemID, decision, note, httpapi.IfMatch{IfMatch: httpapi.ETag(seen)})
	s.record(ctx, l, it, itemID, err, began)
	switch code := errs.CodeOf(err); {
	case err == nil:
		return page{after: "?done=" + decision}
	case code == errs.VersionMismatch:
		return s.failed(ctx, l, it, http.StatusConflict, "The post has changed since you opened this page, so that nothing "+
			"was decided. It is shown as it is now: read it, and decide again.")
	case code == errs.InvalidState:
		return s.failed(ctx, l, it, http.StatusConflict, errs.As(err).Message)
	case code == errs.NotFound:
		return s.failed(ctx, l, it, http.StatusNotFound, "The post does not exist any more.")
	}
	slog.Error("decision not written", "link", l.ID, "error", err)
	return pageBroken
}

// commit writes a decision about the version of an item that was seen.
func (s *Service) commit(ctx context.Context, l *linkRecord, itemID, decision, note string,
	seen httpapi.IfMatch) (err error) {
	for range maxTries {
		tx := &store.Tx{}
		if _, err = s.content.Decide(ctx, tx, itemID, decision, note, l.Authority, seen); err != nil {
			return err
		}
		if err = s.db.Commit(ctx, tx); !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
	return err
}

// failed returns the page with the reason why a decision was not made.
func (s *Service) failed(ctx context.Context, l *linkRecord, it store.Item, status int, why string) page {
	p := s.view(ctx, l, it, why)
	if p.Status == http.StatusOK {
		p.Status = status
	}
	return p
}

// record writes a decision to the audit log of the customer, under the link.
func (s *Service) record(ctx context.Context, l *linkRecord, it store.Item, itemID string, failure error,
	began time.Time) {
	g, status, code := httpapi.GatewayOf(ctx), http.StatusSeeOther, errs.Code("")
	if failure != nil {
		code = errs.CodeOf(failure)
		status, _ = httpapi.Status(code)
	}
	if !g.ReceivedAt.IsZero() {
		began = g.ReceivedAt
	}
	err := s.audit.Record(context.WithoutCancel(ctx), httpapi.Call{
		RequestID: g.RequestID, Principal: &auth.Principal{Owner: it.Owner,
			Actor: auth.Actor{Kind: auth.ReviewLink, ID: l.ID}},
		OperationID: ReviewOperation, Method: http.MethodPost, Path: PagePath + l.ID + "/" + itemID, Status: status,
		ErrorCode: string(code), IP: g.SourceIP, UserAgent: g.UserAgent, At: began, Latency: s.now().Sub(began),
	})
	if err != nil {
		slog.Error("audit entry lost", "request_id", g.RequestID, "operation_id", ReviewOperation, "error", err)
	}
}

// view returns the page of a link.
func (s *Service) view(ctx context.Context, l *linkRecord, it store.Item, notice string) page {
	p := page{Status: http.StatusOK, Title: "Posts to review", Notice: notice, Decide: l.May == mayDecide}
	if l.Name != "" {
		p.Title = l.Name
	}
	records, err := s.reviewed(ctx, l, it)
	if err == nil {
		err = s.fill(ctx, &p, records, it)
	}
	if err != nil {
		slog.Error("review page not read", "link", l.ID, "error", err)
		return pageBroken
	}
	if len(p.Items) == 0 {
		p.Text = "There is nothing to review at the moment."
	}
	return p
}

// madeOf says how finished media were made, as far as their files do.
func madeOf(files []media.File) (made, signer string) {
	for _, f := range files {
		if f.Role != media.Final || f.Provenance == nil {
			continue
		}
		switch provenance.SourceOf(f.Provenance.DigitalSourceType) {
		case provenance.Generated:
			made = "AI models have made it."
		case provenance.Composite:
			made = "AI models have made parts of it, the others are yours."
		default:
			made = "No part was generated."
		}
		return made, f.Provenance.Signer
	}
	return "", ""
}

// fill adds the items to a page.
func (s *Service) fill(ctx context.Context, p *page, records []*item.Record, it store.Item) error {
	accounts, err := s.accountsOf(ctx, records, it)
	if err != nil {
		return err
	}
	for _, r := range records {
		one := pageItem{ID: r.ID, Version: r.Version, Title: r.Title, Kind: strings.ReplaceAll(string(r.Kind), "_", " "),
			StateText: stateText(r), Open: r.Permit(item.Approve) == nil}
		one.Made, one.Signer = madeOf(r.Files)
		if r.Approval.Note != nil {
			one.Note = *r.Approval.Note
		}
		if r.PublishAt != nil {
			one.PublishAt = r.PublishAt.Format(time.RFC3339)
			one.PublishText = r.PublishAt.Format("2 January 2006, 15:04 UTC")
		}
		for _, acct := range accounts[r.ID] {
			limits, ok := s.content.Capabilities(it.Owner.Mode, acct.Platform)
			if _, takes := limits.Kinds[platform.Kind(r.Kind)]; !ok || !takes {
				continue
			}
			label := limits.Label
			if acct.Handle != "" {
				label += " · " + string(acct.Handle)
			}
			post, err := s.post(ctx, p, r, item.Publication{Platform: acct.Platform, SocialAccountID: acct.ID}, limits,
				label)
			if err != nil {
				return err
			}
			one.Posts = append(one.Posts, post)
		}
		if len(one.Posts) == 0 {
			post, err := s.post(ctx, p, r, item.Publication{}, platform.Capabilities{}, "Post")
			if err != nil {
				return err
			}
			one.Posts = append(one.Posts, post)
		}
		p.Items = append(p.Items, one)
	}
	return nil
}

// stateText says in words what was decided about an item.
func stateText(r *item.Record) string {
	switch {
	case r.State == item.Published, r.State == item.Publishing:
		return string(r.State)
	case r.Approval.State == item.Approved:
		return "approved"
	case r.Approval.State == item.ChangesRequested:
		return "changes requested"
	}
	return "not decided yet"
}

// post returns what an account gets of an item, with signed media.
func (s *Service) post(ctx context.Context, p *page, r *item.Record, pub item.Publication,
	limits platform.Capabilities, label string) (out pagePost, err error) {
	preview := publication.Preview(r, &pub, limits)
	words := r.Words(pub.Platform, pub.SocialAccountID)
	out = pagePost{Label: label, Title: string(preview.Title), Caption: preview.Text, Rest: string(preview.Rest),
		Hashtags: preview.Hashtags}
	views, err := s.signer.Views(ctx, words.Files)
	if err != nil {
		return out, err
	}
	for i, v := range views {
		p.show(v.URL)
		what := "Image"
		if v.Type == media.Video {
			what = "Video"
		}
		out.Media = append(out.Media, pageMedia{URL: template.URL(v.URL), Video: v.Type == media.Video, Width: v.Width,
			Height: v.Height, Alt: fmt.Sprintf("%s %d of %d for %s", what, i+1, len(views), label)})
	}
	return out, nil
}

// accountsOf returns the accounts that each item is, or would be, published to: those of its publications, those that
// it is planned for, or else those of its factory.
func (s *Service) accountsOf(ctx context.Context, records []*item.Record,
	it store.Item) (map[string][]social.Record, error) {
	var keys []store.Key
	want := func(key store.Key) {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for _, r := range records {
		want(factoryrecord.Key(r.FactoryID))
	}
	factories, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	attached := map[string][]string{}
	for _, f := range factories {
		if factoryrecord.Usable(f, it.Owner) {
			if attached[f.PK], err = factoryrecord.Accounts(&f); err != nil {
				return nil, err
			}
		}
	}
	ids, all := map[string][]string{}, map[string]social.Record{}
	keys = nil
	for _, r := range records {
		for _, pub := range r.Publications {
			ids[r.ID] = append(ids[r.ID], pub.SocialAccountID)
		}
		for _, others := range [][]string{r.SocialAccountIDs, attached[r.FactoryID]} {
			if len(ids[r.ID]) == 0 {
				ids[r.ID] = others
			}
		}
		for _, accountID := range ids[r.ID] {
			want(store.IDKey(accountID))
		}
	}
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for _, found := range items {
		if social.Is(found, it.Owner) {
			if all[found.PK], err = social.Decode(&found); err != nil {
				return nil, err
			}
		}
	}
	shown := map[string][]social.Record{}
	for itemID, accounts := range ids {
		for _, accountID := range accounts {
			if acct, ok := all[accountID]; ok {
				shown[itemID] = append(shown[itemID], acct)
			}
		}
	}
	return shown, nil
}
