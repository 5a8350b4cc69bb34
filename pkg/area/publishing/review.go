package publishing

import (
	"cmp"
	"context"
	"html/template"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/store"
)

// PagePath is the beginning of the addresses of review pages. The token follows.
const PagePath = "/review/"

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
	ctx, c := req.Context(), choicesOf(req)
	l, it, p, err := s.opened(ctx, token)
	switch {
	case err != nil:
		slog.Error("review link not read", "error", err)
		return pageBroken.in(c)
	case l == nil:
		return pageGone.in(c)
	}
	// Whoever has the link acts with the rights of who has made it.
	p.Actor = auth.Actor{Kind: auth.ReviewLink, ID: l.ID}
	ctx = auth.NewContext(ctx, p)
	switch req.Method {
	case http.MethodGet, http.MethodHead:
		return s.view(ctx, l, it, shown{choices: c, last: req.URL.Query().Get("on")})
	case http.MethodPost:
		return s.decide(ctx, req, l, it, c)
	}
	return page{Status: http.StatusMethodNotAllowed, Title: "Open the link in a browser",
		allow: "GET, HEAD, POST"}.in(c)
}

// shown is what a page shows beside the items of its link.
type shown struct {
	choices
	// last is the item of the last form: its card is shown whatever the filter says.
	last string
	// status and failed are those of a form that did nothing, and notes what was typed in it, by the ids of items.
	status int
	failed string
	notes  map[string]string
}

// view returns the page of a link.
func (s *Service) view(ctx context.Context, l *linkRecord, it store.Item, with shown) page {
	p := page{Status: cmp.Or(with.status, http.StatusOK), Decide: l.May == mayDecide}.in(with.choices)
	p.Title = cmp.Or(l.Name, p.T("Posts to review"))
	records, err := s.reviewed(ctx, l, it)
	if err == nil && it.Owner.Profile != "" {
		var brand profile.Brand
		brand, err = profile.BrandOf(ctx, s.db, it.Owner)
		p.Brand, p.Logo = brand.Name, template.URL(brand.Logo) // the logo is made of a picture that was decoded
	}
	if err == nil {
		err = s.fill(ctx, &p, records, it, with)
	}
	if err != nil {
		slog.Error("review page not read", "link", l.ID, "error", err)
		return pageBroken.in(with.choices)
	}
	if with.failed != "" && !slices.ContainsFunc(p.Items, func(one pageItem) bool { return one.Failed != "" }) {
		p.Notice = p.T(with.failed) // the item is not on the page
	}
	switch {
	case len(records) == 0:
		p.Text = p.T("There is nothing to review at the moment.")
	case len(p.Items) == 0:
		p.Text = p.T("You have decided about all posts. Thank you!")
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
func (s *Service) fill(ctx context.Context, p *page, records []*item.Record, it store.Item, with shown) error {
	accounts, err := s.accountsOf(ctx, records, it)
	if err != nil {
		return err
	}
	zones, err := s.zonesOf(ctx, records)
	if err != nil {
		return err
	}
	for _, r := range records {
		open := r.Item.Permit(item.Approve) == nil
		own := open && r.Item.Approval.By != nil && *r.Item.Approval.By == auth.FromContext(ctx).Actor.ID
		// Others may have requested changes: the reader can still decide.
		decided := !open || own || r.Item.Approval.State == item.Approved
		if p.Total++; decided {
			p.Decided++
		}
		if with.todo && decided && r.Item.ID != with.last {
			continue
		}
		one := pageItem{ID: r.Item.ID, Version: r.Item.Version, Name: nameOf(r), Kind: kindText(r.Item.Kind),
			StateText: stateText(r),
			Open:      p.Decide && open, Approved: r.Item.Approval.State == item.Approved, Decided: decided,
			Undo: p.Decide && own,
			Last: r.Item.ID == with.last, Typed: with.notes[r.Item.ID]}
		one.Made, one.Signer = madeOf(r.Files)
		if r.Item.Approval.Note != nil {
			one.Note = *r.Item.Approval.Note
		}
		if one.Last {
			one.Failed = with.failed
		}
		if r.Item.PublishAt != nil {
			one.PublishAt = r.Item.PublishAt.UTC().Format(time.RFC3339)
			one.PublishText = p.at(r.Item.PublishAt.Time, zones[r.Item.FactoryID])
		}
		if err := s.fillPosts(ctx, p, &one, r, accounts[r.Item.ID], it.Owner.Mode); err != nil {
			return err
		}
		p.Items = append(p.Items, one)
	}
	return nil
}

// fillPosts adds to an item what each of its accounts gets, or the item itself if it has no account yet.
func (s *Service) fillPosts(ctx context.Context, p *page, one *pageItem, r *item.Record, accounts []social.Record,
	mode tenant.Mode) error {
	for _, acct := range accounts {
		limits, ok := s.content.Capabilities(mode, acct.Platform)
		if _, takes := limits.Kinds[platform.Kind(r.Item.Kind)]; !ok || !takes {
			continue
		}
		post, err := s.post(ctx, p, r, item.Publication{Platform: acct.Platform, SocialAccountID: acct.ID}, limits,
			limits.Label, string(acct.Handle))
		if err != nil {
			return err
		}
		one.Posts = append(one.Posts, post)
	}
	if len(one.Posts) > 0 {
		return nil
	}
	post, err := s.post(ctx, p, r, item.Publication{}, platform.Capabilities{}, p.T("Post"), "")
	one.Posts = append(one.Posts, post)
	return err
}

// nameOf returns the text by which people know an item: its title, or the first words of its caption.
func nameOf(r *item.Record) string {
	return cmp.Or(beginningOf(string(r.Item.Title)), beginningOf(string(r.Item.Caption)))
}

// mostBeginning bounds the characters of the beginning of a text.
const mostBeginning = 100

// beginningOf returns the beginning of the first line of a text.
func beginningOf(words string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(words), "\n")
	return text.ClipLine(line, mostBeginning)
}

// kindText returns the kind of an item in words.
func kindText(kind item.Kind) string { return strings.ReplaceAll(string(kind), "_", " ") }

// zonesOf returns the time zones of the factories of items.
func (s *Service) zonesOf(ctx context.Context, records []*item.Record) (map[string]*time.Location, error) {
	var ids []string
	for _, r := range records {
		if !slices.Contains(ids, r.Item.FactoryID) {
			ids = append(ids, r.Item.FactoryID)
		}
	}
	zones := map[string]*time.Location{}
	factories, _, err := s.factories.FindAll(ctx, ids)
	for id, f := range factories {
		if f.Schedule == nil {
			continue
		}
		if zone, err := time.LoadLocation(f.Schedule.Timezone); err == nil {
			zones[id] = zone
		}
	}
	return zones, err
}

// stateText says in words what was decided about an item.
func stateText(r *item.Record) string {
	switch {
	case r.Item.State == item.Published, r.Item.State == item.Publishing:
		return string(r.Item.State)
	case r.Item.Approval.State == item.Approved:
		return "approved"
	case r.Item.Approval.State == item.ChangesRequested:
		return "changes requested"
	}
	return "not decided yet"
}

// post returns what an account gets of an item, with signed media.
func (s *Service) post(ctx context.Context, p *page, r *item.Record, pub item.Publication,
	limits platform.Capabilities, label, handle string) (out pagePost, err error) {
	preview := publication.Preview(r, &pub, limits)
	words := r.Words(pub.Platform, pub.SocialAccountID)
	out = pagePost{Platform: pub.Platform, Label: label, Handle: handle,
		Title: string(preview.Title), Caption: string(preview.Text), Rest: string(preview.Rest),
		Hashtags: preview.Hashtags}
	views, err := s.signer.Views(ctx, words.Files)
	if err != nil {
		return out, err
	}
	for i, v := range views {
		p.show(v.URL)
		what := "Image %d of %d for %s"
		if v.Type == media.Video {
			what = "Video %d of %d for %s"
		}
		one := pageMedia{URL: template.URL(v.URL), Video: v.Type == media.Video, Width: v.Width, Height: v.Height,
			Alt: p.T(what, i+1, len(views), label)}
		if v.ThumbnailURL != nil {
			one.Small = template.URL(*v.ThumbnailURL)
		}
		out.Media = append(out.Media, one)
	}
	return out, nil
}
