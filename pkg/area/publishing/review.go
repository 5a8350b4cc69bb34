package publishing

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // Lambda's runtime need not know the time zones.

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
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

func (s *Service) serve(req *http.Request, token string) page {
	ctx, c := req.Context(), choicesOf(req)
	l, it, p, err := s.openLink(ctx, token)
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
		return s.view(ctx, l, it, pageExtras{choices: c, last: req.URL.Query().Get("on")})
	case http.MethodPost:
		return s.decide(ctx, req, l, it, c)
	}
	return page{Status: http.StatusMethodNotAllowed, Title: "Open the link in a browser",
		allow: "GET, HEAD, POST"}.in(c)
}

// pageExtras is what a page shows beside the items of its link.
type pageExtras struct {
	choices
	// last is the item of the last form: its card is shown whatever the filter says.
	last string
	// status and failed are those of a form that did nothing, and notes what was typed in it, by the ids of items.
	status  int
	failure string
	notes   map[string]string
}

func (s *Service) view(ctx context.Context, l *linkRecord, it store.Item, with pageExtras) page {
	p := page{Status: cmp.Or(with.status, http.StatusOK), Decide: l.May == mayDecide}.in(with.choices)
	p.Title = cmp.Or(l.Name, p.T("Posts to review"))
	records, err := s.linkItems(ctx, l, it)
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
	if with.failure != "" && !slices.ContainsFunc(p.Items, func(one pageItem) bool { return one.Failed != "" }) {
		p.Notice = p.T(with.failure) // the item is not on the page
	}
	switch {
	case len(records) == 0:
		p.Text = p.T("There is nothing to review at the moment.")
	case p.Decide && p.Decided == p.Total:
		p.Thanks = p.T("You have decided about all posts. Thank you!")
		if name := s.customer(ctx, it.Owner.Account); name != "" {
			p.Thanks += " " + p.T("%s has your answers.", name)
		}
	case len(p.Items) == 0:
		p.Text = p.T("There is nothing to review at the moment.")
	}
	return p
}

// customer returns the name of the account that gets the answers of a page, or nothing if it cannot be read.
func (s *Service) customer(ctx context.Context, id tenant.Account) string {
	var a account.Account
	it, err := s.db.Get(ctx, store.IDKey(string(id)))
	if err == nil {
		err = it.Decode(&a)
	}
	if err != nil {
		slog.Error("account of a review page not read", "account", id, "error", err)
	}
	return a.Name
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
func (s *Service) fill(ctx context.Context, p *page, records []*item.Record, it store.Item, with pageExtras) error {
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
			one.Failed = with.failure
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
	action, itemID string
	version        int64
	notes          map[string]string
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
	d.action, d.itemID, d.version = parts[0], parts[1], version
	return d, err == nil
}

// refused says why a form is not a decision about one of the shown items, with the status: 0 if it is one.
func (d decision) refused(all []*item.Record) (status int, why string) {
	switch note := d.notes[d.itemID]; {
	case d.action != item.Approved && d.action != item.ChangesRequested && d.action != undo,
		!slices.ContainsFunc(all, func(r *item.Record) bool { return r.Item.ID == d.itemID }):
		return http.StatusBadRequest, failedGone
	case len([]rune(note)) > mostNote:
		return http.StatusUnprocessableEntity, failedLong
	case d.action == item.ChangesRequested && note == "":
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
		return s.view(ctx, l, it, pageExtras{choices: c, last: d.itemID, status: status, failure: why, notes: d.notes})
	}
	if err := req.ParseForm(); err != nil {
		return show(http.StatusBadRequest, failedForm, decision{})
	}
	all, err := s.linkItems(ctx, l, it)
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
	if err != nil && !isRepeated(all, d, l.ID) {
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
	return page{next: c.after(d)}
}

// isRepeated reports whether the link has made the decision before: the form was sent twice.
func isRepeated(all []*item.Record, d decision, linkID string) bool {
	return slices.ContainsFunc(all, func(r *item.Record) bool {
		return r.Item.ID == d.itemID && d.action == item.Approved && r.Item.Approval.State == d.action &&
			r.Item.Approval.By != nil &&
			*r.Item.Approval.By == linkID && r.Item.Version > d.version
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
			case r.Item.ID != itemID:
			case r.Item.Permit(item.RequestChanges) != nil:
				return http.StatusConflict, failedEnded
			case r.Item.Approval.State == item.Approved:
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
		if d.action == undo {
			_, err = s.content.Withdraw(ctx, tx, d.itemID, seen)
		} else {
			_, err = s.content.Decide(ctx, tx, d.itemID, d.action, d.notes[d.itemID], l.Authority, seen)
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
	if d.action == undo {
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

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var design = web.NewDesign(pageText, func() string {
	return web.Look("../settings/assets/") + pageStyle
}, template.FuncMap{
	"of":   func(p page, one pageItem) itemOf { return itemOf{p, one} },
	"logo": web.Logo,
})

// page is a page of a review link.
type page struct {
	choices
	Status      int
	Title, Text string
	// Brand is the name of the profile whose posts are on the page, and Logo its logo: empty without a profile.
	Brand  string
	Logo   template.URL
	Notice string // why a form did nothing, if its item is not on the page
	Thanks string // after the last decision, with who gets the answers
	Items  []pageItem
	// Decided is how many of Total items were decided about.
	Decided, Total int
	Decide         bool
	// origins are those of the media that the page shows, after is the address to go to instead of a page, and allow
	// the header Allow.
	origins     []string
	allow, next string
}

// Link returns the address of the page with all posts, or with those that wait for a decision.
func (p page) Link(todo bool) string {
	q := url.Values{}
	maps.Copy(q, p.query)
	if q.Del("todo"); todo {
		q.Set("todo", "1")
	}
	return "?" + q.Encode()
}

// itemOf is what the template of a post gets.
type itemOf struct {
	Page page
	Item pageItem
}

// in returns the page in the language of its reader.
func (p page) in(c choices) page {
	p.choices, p.Title, p.Text = c, c.T(p.Title), c.T(p.Text)
	return p
}

type pageItem struct {
	// Name is the title of the item or the beginning of its text. It may be empty.
	ID, Name, Kind, StateText, Note string
	// Made says how the finished media were made, and Signer who has signed that.
	Made, Signer           string
	PublishAt, PublishText string
	Posts                  []pagePost
	// Version is the version of the item as the page shows it: a decision is about this version alone.
	Version int64
	// Open reports whether the reader can decide about the item, and Undo whether they can take their decision back.
	Open, Undo bool
	// Decided reports whether there is a decision, and Approved whether it is approved.
	Decided, Approved bool
	// Last reports that the last form was about the item, and Failed why it did nothing. Typed is the note of the form.
	Last          bool
	Failed, Typed string
}

type pagePost struct {
	Platform, Label, Handle, Title, Caption, Rest string
	Hashtags                                      []string
	Media                                         []pageMedia
}

// Initial returns the first letter of the handle, which stands for its picture.
func (p pagePost) Initial() string {
	for _, letter := range strings.TrimPrefix(p.Handle, "@") {
		return strings.ToUpper(string(letter))
	}
	return ""
}

type pageMedia struct {
	URL template.URL
	// Small is the address of the thumbnail, or empty. A click shows the whole picture, and starts a video.
	Small         template.URL
	Alt           string
	Video         bool
	Width, Height int
}

var (
	pageGone = page{Status: http.StatusNotFound, Title: "This page has ended",
		Text: "The link is not valid, or is not valid any more. Ask for a new one."}
	pageBroken = page{Status: http.StatusServiceUnavailable, Title: "Something went wrong",
		Text: "Nothing was changed. Try again in a few minutes."}
)

// policy permits the page to use its style, to show the media, and to send its forms to itself. It permits no script.
func (p page) policy() string {
	media := "'none'"
	if len(p.origins) > 0 {
		media = strings.Join(p.origins, " ")
	}
	return design.Policy("font-src 'self'; img-src data: " +
		strings.TrimPrefix(media, "'none'") + "; media-src " + media +
		"; form-action 'self'; ")
}

// show adds the origin of a file to those that the policy permits.
func (p *page) show(address string) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	if origin := u.Scheme + "://" + u.Host; !slices.Contains(p.origins, origin) {
		p.origins = append(p.origins, origin)
	}
}

// write answers a request with the page. Its address is a secret.
func (p page) write(w http.ResponseWriter, method string) {
	if p.allow != "" {
		w.Header().Set("Allow", p.allow)
	}
	if p.next != "" {
		web.SetHeaders(w.Header())
		w.Header().Set("Location", p.next)
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	design.Write(w, method, p.Status, p.policy(), p)
}

// The texts of the page in the languages of web.Texts.
//
//go:embed texts.tsv
var textFile string

var translated = web.Texts(textFile)

// choices are what the reader of a page has chosen: the language, or that of the browser, the time zone, or those of
// the factories, and whether only posts are shown that wait for a decision.
type choices struct {
	language string
	zone     *time.Location
	todo     bool
	query    url.Values
}

// choicesOf reads the address of a page and the header Accept-Language.
func choicesOf(req *http.Request) choices {
	given, c := req.URL.Query(), choices{query: url.Values{}}
	var chosen bool
	if c.language, chosen = web.TongueOf(req); chosen {
		c.query.Set("lang", c.language)
	}
	if name := given.Get("zone"); len(name) <= 64 {
		if zone, err := clock.Zone(name); err == nil {
			c.zone = zone
			c.query.Set("zone", name)
		}
	}
	if given.Get("todo") != "" {
		c.todo = true
		c.query.Set("todo", "1")
	}
	return c
}

// after returns the address of the page after a decision.
func (c choices) after(d decision) string {
	q := url.Values{"done": {d.action}, "on": {d.itemID}}
	maps.Copy(q, c.query)
	return "?" + q.Encode() + "#" + d.itemID
}

// T translates a text of the page, with values as fmt.Sprintf.
func (c choices) T(text string, values ...any) string { return translated(c.language, text, values...) }

// Language implements web.Translations.
func (c choices) Language() string { return c.language }

// Languages returns the languages that the reader can choose.
func (c choices) Languages() []web.Tongue { return web.Tongues }

// Zones returns the time zones that the reader can choose: one for each offset, and those of many people.
func (c choices) Zones() []string { return zones }

// Zone returns the chosen time zone, or an empty text.
func (c choices) Zone() string { return c.query.Get("zone") }

// Todo reports whether only posts are shown that wait for a decision.
func (c choices) Todo() bool { return c.todo }

var zones = []string{"UTC", "Pacific/Honolulu", "America/Anchorage", "America/Los_Angeles", "America/Denver",
	"America/Chicago", "America/New_York", "America/Sao_Paulo", "Europe/London", "Europe/Lisbon", "Europe/Berlin",
	"Europe/Paris", "Europe/Madrid", "Europe/Kyiv", "Europe/Istanbul", "Europe/Moscow", "Europe/Samara", "Asia/Dubai",
	"Asia/Yekaterinburg", "Asia/Almaty", "Asia/Kolkata", "Asia/Novosibirsk", "Asia/Bangkok", "Asia/Shanghai",
	"Asia/Singapore", "Asia/Tokyo", "Asia/Vladivostok", "Australia/Sydney", "Pacific/Auckland"}

// at returns a time in words, in the chosen time zone or else the time zone of the factory.
func (c choices) at(t time.Time, factory *time.Location) string {
	zone := c.zone
	if zone == nil {
		zone = factory
	}
	if zone == nil {
		zone = time.UTC
	}
	t = t.In(zone)
	pattern := web.Tongues[0].Date
	for _, l := range web.Tongues {
		if l.Code == c.language {
			pattern = l.Date
		}
	}
	return fmt.Sprintf(pattern, t.Day(), c.T(t.Month().String()), t.Year()) + t.Format(", 15:04") + " (" +
		zone.String() + ")"
}
