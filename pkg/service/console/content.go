package console

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	client "github.com/content-automation/api/clients/go"
	"github.com/content-automation/api/pkg/base/clock"
	clip "github.com/content-automation/api/pkg/base/text"
)

const contentPath = "/settings/content-items"

func addContent(open func(string, func(*request) error)) {
	open("POST "+contentPath+"/publish", publishAgain)
	open("POST "+contentPath+"/{id}/decide", decide)
}

var contentItems = page[content]{
	Title: "Content", Path: contentPath, API: "/v1/content-items", List: "content", Names: true,
	Filters: []string{"factory_id", "profile_id"}, Narrow: narrowItems, Rows: itemsOf, More: besideItems,
	Show: "content-item", Heading: "Content item", Name: content.Name, Below: besideItem,
	Actions: []action[content]{
		{Name: "publish", Method: http.MethodPost, API: "/publish", Done: "published",
			Body: func(r *request) (any, error) {
				return map[string]any{"social_account_ids": []string{r.PostFormValue("account")}}, nil
			}},
		{Name: "unschedule", Method: http.MethodPost, API: "/schedule", Done: "unscheduled", Fields: versionOf,
			Ask: &confirmation{Title: "Do not publish the post", Verb: "Do not publish", Active: calendarPath,
				Text: "It loses its time. The post itself stays, and can be scheduled again."},
			Body: func(*request) (any, error) { return map[string]any{"publish_at": nil}, nil }},
		{Name: "move", Method: http.MethodPost, API: "/schedule", Done: "moved", Body: movedTo},
		{Name: "again", Method: http.MethodPost, API: "/regenerate", Done: "again",
			Fields: func(r *request, c content) []choice {
				if c.reuses() {
					return append(versionOf(r, c), choice{"reuse", "true"})
				}
				return versionOf(r, c)
			},
			Ask: &confirmation{Title: "Make the post again", Verb: "Make it again", Harmless: true},
			Text: func(c content) string {
				if c.reuses() {
					return "Its prices are replaced, and the rest stays as it is. Then it goes out as it was planned."
				}
				return "Its texts and pictures are made anew from the product as it is now. Then it goes out as it " +
					"was planned."
			},
			Effects: effectsOfAgain,
			Body: func(r *request) (any, error) {
				if r.PostFormValue("reuse") == "" {
					return map[string]any{}, nil
				}
				return map[string]any{"reuse": true}, nil
			}},
	},
	Done: map[string]string{"approve": "The item before this one is approved.",
		"request-changes": "Changes of the item before this one are requested.",
		"moved":           "The post has another time.", "published": "The post is being published.",
		"unscheduled": "The post is not published: it has no time any more.",
		"again":       "The post is being made again.", "resent": "The posts are being published again."},
}

// content is a content item, with files as pages show them.
type content struct {
	client.ContentItem
	ID    string      `json:"id"`
	Media []mediaFile `json:"media"`
}

// mediaFile is a file of an item. Thumbnail is the address of a small picture of it, or nil.
type mediaFile struct {
	client.Media
	Role      string  `json:"role"`
	Type      string  `json:"type"`
	URL       string  `json:"url"`
	Thumbnail *string `json:"thumbnail_url"`
}

// Alt returns what the file shows, in words, or an empty text.
func (f mediaFile) Alt() string { return given(f.AltText) }

// Small returns the address of the thumbnail, or of the file if it has none.
func (f mediaFile) Small() string { return cmp.Or(given(f.Thumbnail), f.URL) }

// tones are the tones of states.
var tones = map[string]string{"approved": "good", "pending": "warn", changesTab: "bad", "published": "good",
	"scheduled": "good", "failed": "bad", "active": "good", "planned": "warn", "completed": "good", "held": "warn",
	"connected": "good", "needs_reconnect": "bad", "invited": "warn", "delivered": "good", retryingState: "warn"}

func (*view) Tone(state any) string { return tones[fmt.Sprint(state)] }

// Word translates a state or a kind of the API.
func (v *view) Word(value any) string { return strings.ReplaceAll(v.T(value), "_", " ") }

// Open reports whether the item can be decided about.
func (c content) Open() bool { return c.State == "generated" || c.State == "scheduled" }

// Name returns a text by which people know the item.
func (c content) Name() string {
	for _, text := range []string{given(c.Title), given(c.Caption), c.Prompt} {
		if line, _, _ := strings.Cut(strings.TrimSpace(text), "\n"); line != "" {
			return line
		}
	}
	return c.ID
}

// Final returns the files that are published.
func (c content) Final() (all []mediaFile) {
	for _, f := range c.Media {
		if (f.Role == "final" || f.Role == "") && (f.Type == "image" || f.Type == "video") {
			all = append(all, f)
		}
	}
	return all
}

// Extent says how long its clip plays, or how many files it has, or is empty.
func (c content) Extent() string {
	files := c.Final()
	switch {
	case len(files) > 1:
		return strconv.Itoa(len(files))
	case len(files) == 1 && client.Value(files[0].DurationSeconds) >= 1:
		seconds := int(math.Round(*files[0].DurationSeconds))
		return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
	}
	return ""
}

// Made says how the finished media were made, as far as their files do, in a text to translate.
func (c content) Made() string {
	for _, f := range c.Final() {
		source := given(client.Value(f.Provenance).DigitalSourceType)
		switch {
		case f.Provenance == nil:
		case strings.HasSuffix(source, "/trainedAlgorithmicMedia"):
			return "AI models have made it."
		case strings.HasSuffix(source, "/compositeWithTrainedAlgorithmicMedia"):
			return "AI models have made parts of it."
		default:
			return "No part was generated."
		}
	}
	return ""
}

// Signer is the name in the certificate of the finished media, or empty.
func (c content) Signer() string {
	for _, f := range c.Final() {
		if f.Provenance != nil {
			return given(f.Provenance.Signer)
		}
	}
	return ""
}

// Picture returns a file whose Small is a picture of the item, or nil. A video is one by its thumbnail.
func (c content) Picture() *mediaFile {
	for _, role := range []string{"final", "", "poster", "cover"} {
		for _, f := range c.Media {
			if f.Role == role && (f.Type == "image" || f.Type == "video" && f.Thumbnail != nil) {
				return &f
			}
		}
	}
	return nil
}

// post is what a card of a preview shows.
type post struct {
	Platform, Handle, Title, Caption, Rest string
	Hashtags                               []string
	Media                                  []mediaFile
}

// posts returns the item as each platform shows it, or as it is if no platform is planned.
func (r *request) posts(c content, accounts map[string]outlet) (all []post, err error) {
	for _, p := range c.Previews {
		one := post{Platform: string(p.Platform), Handle: accounts[given(p.SocialAccountID)].Handle,
			Title: given(p.Title), Caption: given(p.Caption), Rest: given(p.Rest), Hashtags: p.Hashtags}
		for _, id := range p.MediaIDs {
			f, err := r.file(c, id)
			if err != nil {
				return nil, err
			}
			if f.URL != "" {
				one.Media = append(one.Media, f)
			}
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		all = []post{{Title: given(c.Title), Caption: given(c.Caption), Hashtags: c.Hashtags, Media: c.Final()}}
	}
	return all, nil
}

// file returns a file of an item. A variant may have files of its own, which the item does not list.
func (r *request) file(c content, id string) (f mediaFile, err error) {
	if i := slices.IndexFunc(c.Media, func(f mediaFile) bool { return f.ID == id }); i >= 0 {
		return c.Media[i], nil
	}
	err = r.api.get(r.Context(), "/v1/media/"+url.PathEscape(id), nil, &f)
	if missing(err) {
		return mediaFile{}, nil
	}
	return f, err
}

// permitMedia lets the page show files of the service, which are on the host of a bucket.
func (r *request) permitMedia(files ...mediaFile) {
	sources := ""
	for _, f := range files {
		u, err := url.Parse(f.URL)
		if err != nil || u.Host == "" || strings.ContainsAny(u.Host, " ;,'\"") {
			continue
		}
		if origin := " " + u.Scheme + "://" + u.Host; !strings.Contains(sources+" ", origin+" ") {
			sources += origin
		}
	}
	if sources != "" {
		r.w.Header().Set("Content-Security-Policy",
			strings.Replace(policy, "img-src 'self'", "media-src"+sources+"; img-src 'self'"+sources, 1))
	}
}

// listAll reads a list whose pages have at most 100 rows, up to a number of rows.
func listAll[T any](ctx context.Context, a api, path string, query url.Values, most int) (all []T, err error) {
	q := url.Values{"limit": {"100"}}
	maps.Copy(q, query)
	for {
		var some []T
		next, err := a.list(ctx, path, q, &some)
		if err != nil {
			return nil, err
		}
		if all = append(all, some...); next == "" || len(all) >= most {
			return all, nil
		}
		q.Set("cursor", next)
	}
}

// mostNames bounds the rows of the lists that are read whole.
const mostNames = 2000

// named is something with a name: a factory or a profile.
type named struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	Email     string  `json:"email"`
	Type      string  `json:"type"`
	ProfileID *string `json:"profile_id"`
}

// names are factories and profiles of the account: the newest, and those that a page names.
type names struct {
	Factories, Profiles []named
	// Many are the lists that have more than a select should.
	Many map[string]bool
}

// mostOptions is the number of options of a select. With more, people type a part of the name.
const mostOptions = 15

// names reads the newest factories and profiles, and the factories with the given ids. However many there are, a page
// reads as much as it shows.
func (r *request) names(factories ...string) (n names, err error) {
	if n, err = r.newest(); err == nil {
		n.Factories, err = r.with(n.Factories, "/v1/factories/", factories)
	}
	profiles := []string{r.FormValue("profile_id")}
	for _, f := range n.Factories {
		if f.ProfileID != nil && slices.Contains(factories, f.ID) {
			profiles = append(profiles, *f.ProfileID)
		}
	}
	if err == nil {
		n.Profiles, err = r.with(n.Profiles, "/v1/profiles/", profiles)
	}
	return n, err
}

// readNewest reads the newest factories and profiles.
func (r *request) readNewest() (n names, err error) {
	n.Many = map[string]bool{}
	var more, most string
	query := url.Values{"limit": {"100"}}
	err = atOnce(
		func() (err error) {
			more, err = r.api.list(r.Context(), "/v1/factories", query, &n.Factories)
			return err
		},
		func() (err error) {
			most, err = r.api.list(r.Context(), "/v1/profiles", query, &n.Profiles)
			return err
		})
	n.Many["factory_id"] = more != "" || len(n.Factories) > mostOptions
	n.Many["profile_id"] = most != "" || len(n.Profiles) > mostOptions
	return n, err
}

// with adds what has one of the ids and is not in a list. What was deleted is known by its id.
func (r *request) with(all []named, path string, ids []string) ([]named, error) {
	more := lacking(all, ids)
	if len(more) > mostSingle {
		listed, err := r.whole(strings.TrimSuffix(path, "/"))
		if err != nil {
			return nil, err
		}
		all = listed
		more = lacking(all, ids)
	}
	err := each(more, func(one *named) error {
		err := r.api.get(r.Context(), path+url.PathEscape(one.ID), nil, one)
		if missing(err) {
			one.Name = one.ID
			return nil
		}
		return err
	})
	return slices.Concat(all, more), err
}

// mostSingle is the number of rows that are read one by one. A call of a list reads a hundred.
const mostSingle = 3

// whole reads a list of factories or profiles to its end. A page reads it once.
func (r *request) whole(path string) ([]named, error) {
	r.wholeLock.Lock()
	defer r.wholeLock.Unlock()
	if all, ok := r.wholes[path]; ok {
		return all, nil
	}
	all, err := listAll[named](r.Context(), r.api, path, nil, mostNames)
	if err == nil {
		r.wholes[path] = all
	}
	return all, err
}

// lacking returns what has one of the ids and is not in a list.
func lacking(all []named, ids []string) (more []named) {
	known := map[string]bool{"": true}
	for _, one := range all {
		known[one.ID] = true
	}
	for _, id := range ids {
		if !known[id] {
			known[id] = true
			more = append(more, named{ID: id})
		}
	}
	return more
}

func (n names) all() names { return n }

func (n names) Factory(id string) string { return nameOf(n.Factories, id) }

// Profile returns the name of a profile, or its id.
func (n names) Profile(id string) string { return nameOf(n.Profiles, id) }

// ProfileOf returns the name of the profile of a factory, or an empty text.
func (n names) ProfileOf(factory string) string { return n.Profile(n.clientOf(factory)) }

// clientOf returns the id of the profile of a factory, or an empty text.
func (n names) clientOf(factory string) string {
	for _, f := range n.Factories {
		if f.ID == factory {
			return given(f.ProfileID)
		}
	}
	return ""
}

func nameOf(all []named, id string) string {
	for _, one := range all {
		if one.ID == id {
			return one.Name
		}
	}
	return id
}

// face is how pages show a client at a glance: letters on a colour.
type face struct{ ID, Name, Letters, Class string }

// FaceOf returns the face of the client that a factory works for: its profile, or the factory itself without one.
func (n names) FaceOf(factory string) face {
	if id := n.clientOf(factory); id != "" {
		return faceIn(n.Profiles, id, n.Profile(id))
	}
	return faceIn(n.Factories, factory, n.Factory(factory))
}

// faceIn returns the face of one of many. They have their colours in the order of their ids, so that a new one changes
// none of them.
func faceIn(all []named, id, name string) face {
	ids := mapped(all, func(one named) string { return one.ID })
	slices.Sort(ids)
	return face{id, name, letters(name), colour(max(0, slices.Index(ids, id)))}
}

// distinct gives the faces of a page colours of which none repeats while there are no more clients than colours.
func distinct(faces []*face) {
	c := newChart(time.Time{}, 0, "")
	var all []Series
	for _, f := range faces {
		if c.classes[f.ID] == "" {
			c.classes[f.ID] = f.Class
			all = append(all, Series{Name: f.ID})
		}
	}
	slices.SortFunc(all, func(a, b Series) int { return cmp.Compare(a.Name, b.Name) })
	c.distinct(all)
	for _, s := range all {
		c.classes[s.Name] = s.Class
	}
	for _, f := range faces {
		f.Class = c.classes[f.ID]
	}
}

// letters returns the first letters of the first two words of a name.
func letters(name string) string {
	var all []rune
	for word := range strings.FieldsSeq(name) {
		if first := []rune(word)[0]; len(all) < 2 && unicode.IsLetter(first) {
			all = append(all, unicode.ToUpper(first))
		}
	}
	if len(all) == 0 {
		return "–"
	}
	return string(all)
}

// outlet is a social account as lists show it.
type outlet struct {
	ID, Handle, Platform, State string
	ProfileID                   *string `json:"profile_id"`
}

func (r *request) outlets() (map[string]outlet, error) {
	all, err := listAll[outlet](r.Context(), r.api, "/v1/social/accounts", nil, mostNames)
	found := map[string]outlet{}
	for _, a := range all {
		found[a.ID] = a
	}
	return found, err
}

// permitPictures lets the page show the pictures of items.
func (r *request) permitPictures(all []content) {
	var files []mediaFile
	for _, c := range all {
		if p := c.Picture(); p != nil {
			files = append(files, *p)
		}
	}
	r.permitMedia(files...)
}

// contentTab is a tab of the list of content.
type contentTab struct {
	Value, Text string
	query       url.Values
}

// failedTab is the tab of what has failed, wholly or on some accounts.
const failedTab = "failed"

var contentTabs = []contentTab{{"", "All", nil},
	{failedTab, "Failed", url.Values{"state": {"failed"}, "limit": {"100"}}},
	{"approve", "To approve", url.Values{"state": {"generated,scheduled"}, "approval": {"pending,changes_requested"}}},
	{"ready", "Scheduled", url.Values{"state": {"scheduled"}}},
	{"published", "Published", url.Values{"state": {"published"}}}}

// contentOrders are the orders of the list.
var contentOrders = []choice{{"", "Newest first"}, {"asc", "Oldest first"}, {"publish_at", "By time of publication"}}

const (
	// contentRowFields are what a row of the list shows. mostLooked bounds the calls that look for a platform, which
	// end with mostFound items.
	contentRowFields = "version,created_at,factory_id,kind,prompt,title,caption,approval,media,publish_at,state," +
		"social_account_ids,publications,failure"
	mostLooked, mostFound = 5, 20
)

// narrowItems adds the state of the chosen tab, and the order, to the query of the list.
func narrowItems(r *request, query url.Values) {
	query.Set("fields", contentRowFields)
	for _, t := range contentTabs {
		if t.Value == r.FormValue("tab") {
			maps.Copy(query, t.query)
		}
	}
	switch r.FormValue("order") {
	case "asc":
		query.Set("order", "asc")
	case "publish_at":
		query.Set("order_by", "publish_at")
	}
	if words := strings.TrimSpace(r.FormValue("q")); words != "" {
		query.Set("q", words)
	}
}

// besideItems adds the tabs of the list, and what its filters choose of.
func besideItems(r *request, _ *view, all []content, to map[string]any) error {
	given, _ := to["Filters"].(map[string]string)
	for _, name := range []string{"tab", "q", "platform", "order"} {
		given[name] = strings.TrimSpace(r.FormValue(name))
	}
	accounts, err := r.outlets()
	if err != nil {
		return err
	}
	r.permitPictures(all)
	tabs := mapped(contentTabs, func(t contentTab) tab {
		return tab{Text: t.Text, Path: pathWith(r, "tab", t.Value), Chosen: t.Value == given["tab"]}
	})
	maps.Copy(to, map[string]any{"Tabs": tabs, "Accounts": accounts, "Orders": contentOrders,
		"Platforms": platformsOf(accounts),
		"Count":     number(len(all), to["More"] != "" || r.FormValue("cursor") != "")})
	return nil
}

// itemsOf reads the items of a list, with what platforms have said about those that have failed: those that the address
// names, or those of the chosen tab. The tab of what has failed begins with what has failed on some accounts.
func itemsOf(r *request, query url.Values) (all []content, next string, err error) {
	if of := r.FormValue("of"); of != "" {
		all, err = r.itemsWith(strings.Split(of, "."))
		return all, "", err
	}
	if platform := r.FormValue("platform"); platform == "" {
		next, err = r.api.list(r.Context(), "/v1/content-items", query, &all)
	} else {
		all, next, err = r.itemsOn(platform, query)
	}
	if r.FormValue("tab") != failedTab || r.FormValue("cursor") != "" || err != nil {
		return all, next, err
	}
	forgetCorner(r)
	partly, err := r.partly(query, all)
	return append(partly, all...), next, err
}

// itemsOn reads the items on a platform. It looks for them in at most mostLooked calls: the rest of the list follows.
func (r *request) itemsOn(platform string, query url.Values) (all []content, next string, err error) {
	accounts, err := r.outlets()
	on := func(id string) bool { return accounts[id].Platform == platform }
	query.Set("limit", "100")
	for range mostLooked {
		var some []content
		if err == nil {
			next, err = r.api.list(r.Context(), "/v1/content-items", query, &some)
		}
		for _, c := range some {
			published := slices.ContainsFunc(c.Publications, func(p client.Publication) bool {
				return string(p.Platform) == platform
			})
			if published || slices.ContainsFunc(c.SocialAccountIDs, on) {
				all = append(all, c)
			}
		}
		if query.Set("cursor", next); err != nil || next == "" || len(all) >= mostFound {
			break
		}
	}
	return all, next, err
}

// itemsWith reads items by their ids, without those that are gone.
func (r *request) itemsWith(ids []string) ([]content, error) {
	all := make([]content, min(len(ids), pageOfQueue))
	for i := range all {
		all[i].ID = ids[i]
	}
	err := each(all, func(c *content) error {
		err := r.api.get(r.Context(), "/v1/content-items/"+url.PathEscape(c.ID), nil, c)
		if missing(err) {
			c.ID = ""
			return nil
		}
		return err
	})
	return slices.DeleteFunc(all, func(c content) bool { return c.ID == "" }), err
}

// partly reads the items of a list that were published in the last days, but not on all accounts. Failed are those that
// have failed wholly.
func (r *request) partly(of url.Values, failed []content) ([]content, error) {
	query := failedSince(r.site.Now())
	for _, name := range []string{"factory_id", "profile_id"} {
		if of.Get(name) != "" {
			query.Set(name, of.Get(name))
		}
	}
	if platform := r.FormValue("platform"); platform != "" {
		query.Set("platform", platform)
	}
	var posts []planned
	if _, err := r.api.list(r.Context(), "/v1/publications", query, &posts); err != nil {
		return nil, err
	}
	known := mapped(failed, func(c content) named { return named{ID: c.ID} })
	all, err := r.itemsWith(unpublishedOf(posts, known))
	return slices.DeleteFunc(all, func(c content) bool {
		return c.State == "failed" || len(c.Failed()) == 0 ||
			!clip.HasWords(of.Get("q"), given(c.Title), given(c.Caption), c.Prompt)
	}), err
}

// Failed returns the publications of the item that have failed.
func (c content) Failed() (all []client.Publication) {
	for _, p := range c.Publications {
		if p.State == client.PublicationStateFailed {
			all = append(all, p)
		}
	}
	return all
}

// Reconnects reports whether a failure ends when the account is connected again, and Again whether the post can be sent
// again.
func (c content) Reconnects() bool {
	return slices.ContainsFunc(c.Failed(), func(p client.Publication) bool {
		return p.Failure != nil && slices.Contains([]string{"needs_reconnect", "token_expired", "missing_permission",
			"authority_ended"}, string(p.Failure.Code))
	})
}

func (c content) Again() bool {
	return slices.ContainsFunc(c.Failed(), func(p client.Publication) bool { return retryable(p.Failure) })
}

// retryable reports whether the post may be sent again. If its outcome is unknown, it may exist already.
func retryable(f *client.PublicationFailure) bool {
	return f != nil && string(f.Code) != "outcome_unknown"
}

// Status returns how far the item is, in a word of people, with its tone.
func (c content) Status() choice {
	switch {
	case len(c.Failed()) > 0:
		return choice{"bad", "not published"}
	case c.State == "failed":
		return choice{"bad", "failed"}
	case c.Open() && undecided[c.Approval.State].Text != "":
		return undecided[c.Approval.State]
	case c.State == "scheduled":
		return choice{"good", "ready"}
	}
	return choice{tones[string(c.State)], string(c.State)}
}

// UnderWay reports whether the item changes soon without the person, so that its page follows it.
func (c content) UnderWay() bool {
	return slices.Contains([]string{"queued", "generating", "publishing"}, string(c.State))
}

// undecided are the states of approvals that keep a post from being published, in words of people.
var undecided = map[client.ContentApprovalState]choice{changesTab: {"bad", "changes requested"},
	"pending": {"warn", "to approve"}}

// publishAgain publishes items again on the accounts on which they have failed.
func publishAgain(r *request) error {
	done, err := r.bulk("publish", r.PostForm["item"], nil)
	if err != nil && len(done) == 0 {
		return err
	}
	path, text, _ := strings.Cut(r.back(contentPath), "?")
	q, _ := url.ParseQuery(text) // a query that cannot be read has no filters
	q.Set("done", "resent")
	return r.redirect(path + "?" + q.Encode())
}

// versionOf returns what the page that asks passes on: the version that the person has seen, and where they came from.
func versionOf(r *request, c content) []choice {
	fields := []choice{{"version", strconv.FormatInt(c.Version, 10)}}
	if back := r.back(""); back != "" {
		fields = append(fields, choice{"return", back})
	}
	return fields
}

// movedTo returns another time of an item, which is in the zone of the page. A calendar sends only the day: the time of
// day stays.
func movedTo(r *request) (any, error) {
	zone := zoneOf(r.Request, r.session)
	wall, err := time.Parse("2006-01-02T15:04", r.PostFormValue("at"))
	if day, wrong := time.Parse(time.DateOnly, r.PostFormValue("day")); err != nil && wrong == nil {
		var c content
		if err := r.api.get(r.Context(), r.apiPath("content-items"), nil, &c); err != nil {
			return nil, err
		}
		if c.PublishAt != nil {
			of := c.PublishAt.In(zone)
			wall = time.Date(day.Year(), day.Month(), day.Day(), of.Hour(), of.Minute(), of.Second(), 0, time.UTC)
			err = nil
		}
	}
	if err != nil {
		return nil, about("at", "Choose a day and a time.")
	}
	return map[string]any{"publish_at": clock.Instant(wall, zone).UTC().Format(time.RFC3339)}, nil
}

// reuses reports whether the item can be made again with the parts that it has.
func (c content) reuses() bool { return c.Remake != nil && c.Remake.Credits != nil }

// effectsOfAgain tells why an item is made again, and what that costs, if it is known.
func effectsOfAgain(r *request, v *view, c content) (effects []string, err error) {
	if len(c.Outdated) > 0 {
		effects = append(effects, v.T("What is not so any more: %s.", v.Ways(c)))
	}
	var price client.Estimate
	refused := ""
	if c.reuses() {
		price.Credits = *c.Remake.Credits
	} else {
		refused, err = messageOf(r.api.change(r.Context(), http.MethodPost, "/v1/balance/estimates", "", map[string]any{
			"operation": "regenerateContentItem", "content_item_id": c.ID, "body": map[string]any{}}, &price))
	}
	if refused == "" {
		effects = append(effects, v.T("It costs %s credits; in the sandbox, none.", grouped(price.Credits)))
	}
	return effects, err
}

// showItem shows an item. The message is why a form did nothing.
func (r *request) showItem(status int, message string) error {
	return contentItems.show(r, status, message)
}

// besideItem adds the posts of an item and the accounts that it can go to. Opened from the queue, it links the items
// before and after it.
func besideItem(r *request, v *view, c content, to map[string]any) error {
	accounts, err := r.outlets()
	if err != nil {
		return err
	}
	posts, err := r.posts(c, accounts)
	if err != nil {
		return err
	}
	beside, err := r.neighboursOf(c.ID, r.FormValue("queue"))
	if beside != nil {
		v.Active = approvalsPath
	}
	var files []mediaFile
	for _, p := range posts {
		files = append(files, p.Media...)
	}
	r.permitMedia(files...)
	of := callersOf(r, nil)
	of.names, _ = to["Names"].(names)
	maps.Copy(to, map[string]any{"Names": of, "Posts": posts, "Note": r.PostFormValue("note"), "Beside": beside,
		"Accounts": accounts, "Elsewhere": elsewhere(c, accounts, of.clientOf(c.FactoryID))})
	return err
}

// elsewhere returns the other accounts of the item's client that a failed post can be published on.
func elsewhere(c content, accounts map[string]outlet, profile string) (all []outlet) {
	if len(c.Failed()) == 0 {
		return nil
	}
	for _, a := range accounts {
		used := slices.ContainsFunc(c.Publications, func(p client.Publication) bool {
			return p.SocialAccountID == a.ID
		})
		if a.State == "connected" && !used && (a.ProfileID == nil || *a.ProfileID == profile) {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b outlet) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

const reviewLinksPath = "/settings/review-links"

// mays are what people may do on the page of a link.
var mays = []choice{{"view", "Look at the content"}, {"decide", "Also approve it and request changes"}}

// mostDays is the number of days for which a review link is valid, and mostChosen that of the items that it can have.
const mostDays, mostChosen = 30, 50

var reviewLinks = page[client.ReviewLink]{
	Title: "Review links", Lead: "Pages on which people without an account see content, or decide about it.",
	Active: approvalsPath, Path: reviewLinksPath, API: "/v1/review-links", List: "review-links", Icon: "share",
	Empty: "There are no review links yet", Names: true,
	Columns: []column{{Text: "Name"}, {Text: "Content", At: "md"}, {Text: "Permission", At: "sm"},
		{Text: "Ends", At: "sm"}, {Text: "State"}, {Text: "Actions", Quiet: true}},
	Name: func(l client.ReviewLink) string { return cmp.Or(l.Name, l.ID) },
	Create: &form[client.ReviewLink]{Title: "Create a review link", Verb: "Create the link", Recent: true,
		Template: "review-link-new", Inputs: []input{
			{Name: "name", Member: "name", Label: "Name", Help: "The heading of the page. It may be empty."},
			{Name: "factory_id", Member: "factory_id", Label: "Factory", Kind: asOwn, Of: factoryChoices, None: "–",
				Help: "The page shows the generated and scheduled content of the factory. To show single items, " +
					"choose them under Approvals."},
			{Name: "may", Member: "may", Label: "People may", Kind: asRadio, Choices: mays, Usual: mays[1].Value},
			{Name: "days", Label: "Days", Kind: asNumber, Usual: "7", Must: true,
				Help:  "The page ends after these days: 30 at most.",
				limit: limit{Least: "1", Most: strconv.Itoa(mostDays)}}},
		Add: chosenItems, Fill: fillReviewLink,
		Made: func(r *request, made client.ReviewLink) error {
			v := r.view("The review link", approvalsPath)
			v.Data = made
			return r.show(http.StatusOK, "review-link-made", v)
		}},
	Actions: []action[client.ReviewLink]{{Name: "delete", Method: http.MethodDelete, Done: "deleted",
		Ask: &confirmation{Title: "Delete the review link",
			Text: "The page ends at once. Whoever has its address sees nothing any more."}}},
	Done: map[string]string{"deleted": "The review link is deleted."},
}

// chosenItems adds the items that the queue passes on in the address of the form.
func chosenItems(r *request, v *view, to map[string]any) error {
	ids := r.Form["item"]
	if len(ids) > mostChosen {
		ids, v.Error = ids[:mostChosen], "A review link has at most 50 items. The others are left out."
	}
	items := mapped(ids, func(id string) content { return content{ID: id} })
	err := each(items, func(c *content) error {
		err := r.api.get(r.Context(), "/v1/content-items/"+url.PathEscape(c.ID), nil, c)
		if missing(err) {
			c.ID, err = "", nil
		}
		return err
	})
	to["Items"] = slices.DeleteFunc(items, func(c content) bool { return c.ID == "" })
	return err
}

// fillReviewLink adds what the link shows and when it ends.
func fillReviewLink(r *request, d draft, body map[string]any) fieldErrors {
	days, err := strconv.Atoi(d.Get("days"))
	if err != nil || days < 1 || days > mostDays {
		return about("days", "A review link is valid for 1 to 30 days.")
	}
	body["expires_at"] = r.opened().AddDate(0, 0, days).Format(time.RFC3339)
	if items := r.PostForm["item"]; len(items) > 0 {
		body["content_item_ids"] = items
		delete(body, "factory_id")
	}
	return nil
}

const (
	experimentsPath = "/settings/experiments"
	monthsPath      = "/settings/factory-months"
)

func addExperiments(open func(string, func(*request) error)) {
	open("GET "+monthsPath, showFactoryMonth)
}

// An experiment has its results at each look, and those of each arm.
type (
	armResult       = client.ExperimentResult
	experimentLook  = client.ExperimentLook
	experimentOfAPI = client.ExperimentDetails
)

var experiments = page[experimentOfAPI]{
	Title: "Experiments", Path: experimentsPath, API: "/v1/experiments", List: "experiments", Icon: "chart",
	Names:   true,
	Lead:    "They compare posts that differ by chance alone, and claim only what the figures support.",
	Empty:   "There are no experiments here",
	Filters: []string{"factory_id", "state"},
	States:  []string{"draft", "running", "decided", "inconclusive", "stopped"},
	Show:    "experiment", Name: func(e experimentOfAPI) string { return e.Question },
	Below: func(_ *request, v *view, e experimentOfAPI, to map[string]any) error {
		to["Intervals"] = intervalsOf(e, v)
		return nil
	},
}

// intervals is the chart of an arm: its interval at each look.
type intervals struct {
	Factor, Arm string
	SVG         template.HTML
	Rows        []intervalRow
}

// intervalRow is a look, for those who do not see the picture.
type intervalRow struct {
	Day                    string
	N                      int64
	Estimate, Lower, Upper string
}

// cases writes an effect as the part of cases in which a post of the arm does better.
func cases(effect float64) string { return strconv.FormatFloat(100*(0.5+effect), 'f', 0, 64) + " %" }

// intervalsOf returns the charts of the arms of an experiment that are compared with a first one.
func intervalsOf(e experimentOfAPI, v *view) (all []intervals) {
	for _, now := range e.Results {
		first := slices.IndexFunc(e.Results, func(o armResult) bool { return o.Factor == now.Factor })
		if e.Results[first].Arm == now.Arm {
			continue
		}
		one := intervals{Factor: now.Factor, Arm: now.Arm}
		var looks []experimentLook
		for _, look := range e.History {
			same := func(o armResult) bool { return o.Factor == now.Factor && o.Arm == now.Arm }
			i := slices.IndexFunc(look.Results, same)
			if i < 0 || look.Results[i].Estimate == nil {
				continue
			}
			o := look.Results[i]
			looks = append(looks, experimentLook{At: look.At, Results: []armResult{o}})
			one.Rows = append(one.Rows, intervalRow{v.ShortDay(look.At), o.N, cases(*o.Estimate), cases(*o.Lower),
				cases(*o.Upper)})
		}
		if len(looks) > 0 {
			one.SVG = drawIntervals(looks, v.T("Share of cases in which %s does better", now.Arm), v)
		}
		all = append(all, one)
	}
	return all
}

// drawIntervals draws the interval of each look, with its estimate, around the line of no difference.
func drawIntervals(looks []experimentLook, label string, v *view) template.HTML {
	const height = chartHeight - chartBottom - 16
	y := func(effect float64) float64 { return 8 + (0.5-effect)*height }
	out := newDrawing(v, label)
	for _, effect := range []float64{-0.5, -0.25, 0, 0.25, 0.5} {
		out.grid(y(effect), cases(effect))
	}
	step := min(float64(chartWidth-chartLeft)/float64(len(looks)), 40)
	for i, look := range looks {
		o, x := look.Results[0], chartLeft+float64(i)*step
		left, wide, top := x+step*0.2, step*0.6, y(*o.Upper)
		out.add(`<rect class="c1" opacity="0.35" x="%.1f" y="%.1f" width="%.1f" height="%.1f">`+
			`<title>%s: %s (%s–%s)</title></rect>`, left, top, wide, max(y(*o.Lower)-top, 1), v.ShortDay(look.At),
			cases(*o.Estimate), cases(*o.Lower), cases(*o.Upper))
		out.add(`<rect class="c1" x="%.1f" y="%.1f" width="%.1f" height="3"/>`, left, y(*o.Estimate)-1.5, wide)
		if dated(i, len(looks)) {
			out.day(x+step/2, i, len(looks), look.At)
		}
	}
	return out.done()
}

// monthFigures are what the month of a factory may show.
var monthFigures = []choice{{"views", "Views"}, {"likes", "Likes"}, {"comments", "Comments"}, {"shares", "Shares"},
	{"saves", "Saves"}, {"published", "Publications"}, {"cost_credits", "Credits"}}

func showFactoryMonth(r *request) error {
	factory := r.URL.Query().Get("factory_id")
	month, months := r.chosenMonth(12)
	first, err := time.Parse("2006-01", month)
	if err != nil {
		return err
	}
	n, err := r.names(factory)
	if err != nil {
		return err
	}
	if factory == "" && len(n.Factories) > 0 {
		factory = n.Factories[0].ID
	}
	figure := chosenOf(r, "figure", monthFigures, "views")
	v := r.view("Reports", monthsPath)
	data := map[string]any{"Names": n, "Factory": factory, "Months": months, "Month": month,
		"Figures": monthFigures, "Figure": figure}
	if factory != "" {
		chart, err := factoryMonth(r, v, factory, first, figure)
		if v.Error, err = messageOf(err); err != nil {
			return err
		}
		data["Chart"] = chart
	}
	v.Data = data
	return r.show(http.StatusOK, "factory-month", v)
}

// factoryMonth draws a figure of a factory by day and platform.
func factoryMonth(r *request, v *view, factory string, first time.Time, figure string) (d Drawn, err error) {
	last := first.AddDate(0, 1, -1)
	var answer struct {
		Series []map[string]any `json:"series"`
	}
	err = r.api.get(r.Context(), "/v1/factories/"+url.PathEscape(factory)+"/analytics", url.Values{
		"from": {first.Format(time.DateOnly)}, "to": {last.Format(time.DateOnly)}, "timezone": {"UTC"},
		"group_by": {"day,platform"}}, &answer)
	if err != nil {
		return d, err
	}
	c := newChart(first, last.Day(), figure)
	for _, row := range answer.Series {
		day, _ := row["day"].(string)
		at, err := time.Parse(time.DateOnly, day)
		value, _ := row[figure].(float64)
		name, _ := row["platform"].(string)
		if name == "" {
			name = v.T("All platforms")
		}
		if err == nil {
			c.add(name, at, int64(value))
		}
	}
	return c.done(v), nil
}
