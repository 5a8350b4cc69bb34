package registry

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// page is the address of the simulated posts.
const page = "https://sandbox.invalid/"

// SandboxPlatform stands for a platform with test keys, and has its limits.
type SandboxPlatform struct {
	name string
	caps platform.Capabilities
	now  func() time.Time
}

var _ platform.Adapter = (*SandboxPlatform)(nil)

// NewSandbox returns the sandbox of a platform with that platform's capabilities.
func NewSandbox(name string, caps platform.Capabilities, now func() time.Time) *SandboxPlatform {
	return &SandboxPlatform{name, caps, now}
}

// Name implements platform.Adapter.
func (p *SandboxPlatform) Name() string { return p.name }

// Capabilities implements platform.Adapter.
func (p *SandboxPlatform) Capabilities() platform.Capabilities { return p.caps }

// Authorization implements platform.Connector. It returns the address of the callback itself, with a code.
func (p *SandboxPlatform) Authorization(ctx context.Context, a platform.Authorization) (string, error) {
	if err := ended(ctx); err != nil {
		return "", err
	}
	if p.caps.Connect != platform.ConnectOAuth {
		return "", platform.Unsupported("OAuth")
	}
	divider := "?"
	if strings.Contains(a.RedirectURL, "?") {
		divider = "&"
	}
	return a.RedirectURL + divider + "code=sandbox-" + platform.Challenge(a.Verifier) + "&state=" + a.State, nil
}

// Connect implements platform.Connector. It refuses only an empty grant and the code of a different verifier.
func (p *SandboxPlatform) Connect(ctx context.Context, g platform.Grant) ([]platform.Account, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	given := g.Code + g.Token.Reveal() + g.Username
	if given == "" || p.caps.Connect == platform.ConnectOAuth && g.Token == "" &&
		g.Code != "sandbox-"+platform.Challenge(g.Verifier) {
		return nil, platform.Disconnected()
	}
	prefix := "sandbox-" + p.name + "-"
	id := prefix + seed(given+g.Choice)
	if strings.HasPrefix(g.Choice, prefix) {
		id = g.Choice // an account of an earlier grant
	}
	handle := strings.TrimPrefix(g.Choice, "@")
	handle = cmp.Or(handle, id)
	return []platform.Account{{ID: id, Handle: handle, Name: "Sandbox of " + p.name,
		Token: platform.Token{Access: platform.Secret("sandbox-token"), Scopes: p.caps.Scopes}}}, nil
}

// Refresh implements platform.Connector.
func (p *SandboxPlatform) Refresh(ctx context.Context, a platform.Account) (platform.Token, error) {
	return a.Token, ended(ctx)
}

// Revoke implements platform.Connector.
func (p *SandboxPlatform) Revoke(ctx context.Context, _ platform.Account) error { return ended(ctx) }

// work is the content of a handle.
type work struct {
	Ready int64 `json:"ready"` // Unix milliseconds
}

// resume reads a handle for the next step, unless the time for it is over.
func resume(ctx context.Context, h platform.Handle) (w work, err error) {
	if err := h.Decode(&w); err != nil {
		return w, err
	}
	if w.Ready <= 0 {
		return w, platform.Reject(platform.CodeInvalidHandle, "The publication is not known.")
	}
	return w, ended(ctx)
}

// Start implements platform.Publisher.
func (p *SandboxPlatform) Start(ctx context.Context, _ platform.Account, post platform.Post) (platform.Step, error) {
	if err := ended(ctx); err != nil {
		return platform.Step{}, err
	}
	if problems := platform.Fit(p.name, post, p.caps); len(problems) > 0 {
		return platform.Step{}, platform.Reject(platform.CodeContentRefused, problems[0].Message)
	}
	return platform.Go(platform.StageCheck, work{p.now().Add(post.Rehearsal.Delay).UnixMilli()}, post.Rehearsal.Delay)
}

// Check implements platform.Publisher.
func (p *SandboxPlatform) Check(ctx context.Context, _ platform.Account, post platform.Post,
	h platform.Handle) (platform.Step, error) {
	w, err := resume(ctx, h)
	if err != nil {
		return platform.Step{}, err
	}
	if wait := time.UnixMilli(w.Ready).Sub(p.now()); wait > 0 {
		return platform.Go(platform.StageCheck, w, wait)
	}
	if failure := post.Rehearsal.Code; failure != "" {
		return platform.Step{}, rehearsed(failure)
	}
	return platform.Go(platform.StageFinalize, w, 0)
}

// said is what the simulated platforms say about a failure.
const said = "This is what a platform says about its refusal."

// rehearsed returns the requested failure, of the kind that has its code.
func rehearsed(code platform.Code) error {
	switch code {
	case platform.CodeOutcomeUnknown:
		return platform.Lost(nil)
	case platform.CodeNeedsReconnect, platform.CodeMissingPermission:
		return platform.NeedsReconnect(code, "The account has to be connected again, as was asked for.").Saying(said)
	default:
		return platform.Reject(code, "The publication failed, as was asked for.").Saying(said)
	}
}

// Finalize implements platform.Publisher.
func (p *SandboxPlatform) Finalize(ctx context.Context, a platform.Account, post platform.Post,
	h platform.Handle) (platform.Step, error) {
	w, err := resume(ctx, h)
	if err != nil {
		return platform.Step{}, err
	}
	sum := sha256.Sum256([]byte(a.ID + "\x00" + post.Key))
	// The time makes metrics grow with the age of the post, and the last byte says how it is received.
	raw := binary.BigEndian.AppendUint64(sum[:9:9], uint64(w.Ready/1000))
	raw = append(raw, byte(math.Round(favor(post.Kind, post.Rehearsal.Hook)*favorUnit)))
	id := base64.RawURLEncoding.EncodeToString(raw)
	return platform.Step{Next: platform.StageDone, Post: platform.PublishedPost{ID: id, URL: page + p.name + "/" + id}},
		nil
}

// Reconcile implements platform.Publisher. It allows a repeat, which makes the same post.
func (p *SandboxPlatform) Reconcile(ctx context.Context, _ platform.Account, _ platform.Post, h platform.Handle,
	_ time.Time) (platform.Step, error) {
	w, err := resume(ctx, h)
	if err != nil {
		return platform.Step{}, err
	}
	return platform.Go(platform.StageFinalize, w, 0)
}

func seed(s string) string {
	sum := sha256.Sum256([]byte(s))
	return strconv.FormatUint(binary.BigEndian.Uint64(sum[:]), 36)
}

// ended returns the error of a context that has ended.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return platform.Later(platform.CodeCanceled, "The step was canceled.").Because(err)
	}
	return nil
}

var (
	_ platform.Editor  = (*SandboxPlatform)(nil)
	_ platform.Deleter = (*SandboxPlatform)(nil)
)

// Edit implements platform.Editor.
func (p *SandboxPlatform) Edit(ctx context.Context, _ platform.Account, _ platform.PlacedPost, _ string) error {
	if err := ended(ctx); err != nil || p.caps.Edits {
		return err
	}
	return platform.Unsupported("changes of posts")
}

// Delete implements platform.Deleter.
func (p *SandboxPlatform) Delete(ctx context.Context, _ platform.Account, _ platform.PlacedPost) error {
	if err := ended(ctx); err != nil || p.caps.Deletes {
		return err
	}
	return platform.Unsupported("the deletion of posts")
}

var _ platform.Finder = (*SandboxPlatform)(nil)

// Lookup implements platform.Finder. It finds two things, whose ids have the form of the platform's.
func (p *SandboxPlatform) Lookup(ctx context.Context, _ platform.Account, kind platform.LookupKind,
	text string) (all []platform.LookupResult, err error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	prefix := map[platform.LookupKind]string{platform.LookupMember: "urn:li:person:sandbox",
		platform.LookupOrganization: "urn:li:organization:", platform.LookupPlaylist: "PL-sandbox-"}[kind]
	for n := 1; n <= 2; n++ {
		name := strings.TrimSpace(text + " " + string(kind) + " " + strconv.Itoa(n))
		all = append(all, platform.LookupResult{ID: prefix + strconv.Itoa(1000+n), Name: name, Detail: "Sandbox"})
	}
	return all, nil
}

var _ platform.CreatorReader = (*SandboxPlatform)(nil)

// CreatorInfo implements platform.CreatorReader.
func (p *SandboxPlatform) CreatorInfo(ctx context.Context, a platform.Account) (platform.Creator, error) {
	if err := ended(ctx); err != nil {
		return platform.Creator{}, err
	}
	return platform.Creator{Username: a.Handle, Nickname: a.Name, Privacies: p.caps.Privacies, Comments: true,
		Duet: true, Stitch: true, MaxVideoSeconds: 600}, nil
}

var (
	_ platform.Replier        = (*SandboxPlatform)(nil)
	_ platform.CommentHider   = (*SandboxPlatform)(nil)
	_ platform.CommentDeleter = (*SandboxPlatform)(nil)
)

// readers have written the comments on each post.
var readers = []struct{ handle, name, text string }{
	{"@sandbox_reader", "A reader", "Does it come in other colors?"},
	{"@sandbox_fan", "A fan", "Love it! 👏"},
}

// Comments implements platform.CommentReader. Each post has two comments, which depend on the post alone.
func (p *SandboxPlatform) Comments(ctx context.Context, _ platform.Account, post platform.PublishedPost,
	_ string) (page platform.CommentPage, err error) {
	if err := ended(ctx); err != nil {
		return page, err
	}
	if !p.caps.Comments.Reads {
		return page, platform.Unsupported("reading comments")
	}
	at, _, err := parsePost(post.ID)
	if err != nil {
		return page, err
	}
	for i, r := range readers {
		page.Comments = append(page.Comments, platform.Comment{ID: post.ID + "-" + string(rune('1'+i)),
			Author: platform.Author{Handle: r.handle, Name: r.name}, Text: r.text,
			At: at.Add(time.Duration(i+1) * time.Second)})
	}
	return page, nil
}

// Reply implements platform.Replier. The same reply always has the same id.
func (p *SandboxPlatform) Reply(ctx context.Context, _ platform.Account, r platform.Reply) (string, error) {
	if err := ended(ctx); err != nil {
		return "", err
	}
	if !p.caps.Comments.Replies {
		return "", platform.Unsupported("replies")
	}
	return seed(r.Key), nil
}

// HideComment implements platform.CommentHider.
func (p *SandboxPlatform) HideComment(ctx context.Context, _ platform.Account, _ platform.PublishedPost, _ string,
	_ bool) error {
	if err := ended(ctx); err != nil || p.caps.Comments.Hides {
		return err
	}
	return platform.Unsupported("the hiding of comments")
}

// DeleteComment implements platform.CommentDeleter.
func (p *SandboxPlatform) DeleteComment(ctx context.Context, _ platform.Account, _ platform.PublishedPost,
	_ string) error {
	if err := ended(ctx); err != nil || p.caps.Comments.Deletes {
		return err
	}
	return platform.Unsupported("the deletion of comments")
}

var _ platform.AccountReader = (*SandboxPlatform)(nil)

// dice are the random numbers of a post, an account or a day, which follow from its name.
type dice [sha256.Size]byte

func roll(name string) dice { return sha256.Sum256([]byte(name)) }

// between returns a number from least up to, but not including, most.
func (d dice) between(n int, least, most int64) int64 {
	return least + int64(binary.BigEndian.Uint16(d[2*n:]))%(most-least)
}

// counts returns the metrics of a post with so many views, as far as the platform has them. The other counts are
// fractions of the views, which differ between posts.
func (p *SandboxPlatform) counts(d dice, views int64) (m platform.Metrics) {
	thousandths := func(n int, least, most int64) *int64 {
		return platform.Count(views * d.between(n, least, most) / 1000)
	}
	all := platform.Metrics{Impressions: thousandths(1, 1100, 1600), Reach: thousandths(2, 600, 950),
		Views: platform.Count(views), WatchTime: thousandths(3, 4000, 12000), Likes: thousandths(4, 30, 120),
		Comments: thousandths(5, 2, 12), Shares: thousandths(6, 2, 15), Saves: thousandths(7, 4, 30),
		Clicks: thousandths(8, 3, 25)}
	from := all.All()
	for i, into := range m.All() {
		if slices.Contains(p.caps.Metrics, platform.Names[i]) {
			*into = *from[i]
		}
	}
	return m
}

// The truth of the sandbox: how much more often viewers react to a post than to others, for each view. What is not
// here makes no difference. pkg/service/docs/guides/sandbox.md tells callers.
const (
	FavorVideo    = 1.3
	FavorQuestion = 2.5
)

// favorUnit is the number that the last byte of an id has for a factor of 1.
const favorUnit = 50

// favor returns the factor of the truth for a post.
func favor(kind platform.Kind, hook string) float64 {
	f := 1.0
	if kind == platform.KindVideo {
		f *= FavorVideo
	}
	if hook == "question" {
		f *= FavorQuestion
	}
	return f
}

// react multiplies the reactions to a post, and leaves its views.
func react(m *platform.Metrics, by float64) {
	for _, count := range []*int64{m.Likes, m.Comments, m.Shares, m.Saves, m.Clicks} {
		scale(count, by)
	}
}

// Metrics implements platform.Publisher. Views grow to a number between 500 and 9,999, and reach half of it after a
// day.
func (p *SandboxPlatform) Metrics(ctx context.Context, _ platform.Account,
	post platform.PublishedPost) (platform.Metrics,
	error) {
	if err := ended(ctx); err != nil {
		return platform.Metrics{}, err
	}
	at, favored, err := parsePost(post.ID)
	if err != nil {
		return platform.Metrics{}, err
	}
	if len(p.caps.Metrics) == 0 {
		return platform.Metrics{}, platform.Unsupported("metrics")
	}
	age := max(p.now().Add(post.Ahead).Sub(at), 0)
	d := roll(post.ID)
	m := p.counts(d, int64(float64(d.between(0, 500, 10_000))*age.Hours()/(age.Hours()+24)))
	react(&m, favored)
	return m, nil
}

// parsePost returns the time of a post of the sandbox and how it is received, which its id has.
func parsePost(postID string) (at time.Time, favored float64, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(postID)
	if err != nil || len(raw) != 17 && len(raw) != 18 {
		return at, 0, platform.Reject(platform.CodePostNotFound, "The platform does not have the post.").Because(err)
	}
	favored = 1
	if len(raw) == 18 { // an earlier release has made ids without the byte
		favored = float64(raw[17]) / favorUnit
	}
	return time.Unix(int64(binary.BigEndian.Uint64(raw[9:17])), 0), favored, nil
}

// Days implements platform.AccountReader. The followers of an account grow by some on each day.
func (p *SandboxPlatform) Days(ctx context.Context, a platform.Account, from time.Time) (all []platform.Day,
	err error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	if len(p.caps.Account.Names) == 0 {
		return nil, platform.Unsupported("figures of accounts")
	}
	today := platform.Midnight(p.now())
	if from = platform.Midnight(from); !p.caps.Account.History {
		from = today
	}
	for at := from; !at.After(today); at = at.AddDate(0, 0, 1) {
		all = append(all, p.day(a.ID, at))
	}
	return all, nil
}

// day returns the figures of an account on a day.
func (p *SandboxPlatform) day(account string, at time.Time) platform.Day {
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	n := int64(at.Sub(first).Hours() / 24)
	own, d := roll(account), roll(account+at.Format(time.DateOnly))
	gained, lost := d.between(9, 5, 40), d.between(10, 0, 12)
	// The mean of what is gained and lost on a day, so that the total does not depend on earlier days.
	followers := 1000 + own.between(0, 0, 9000) + max(0, n)*17 + d.between(11, 0, 17)
	has := p.caps.Account.Names
	day := platform.Day{Date: at}
	for name, n := range map[string]int64{"followers": followers, "followers_gained": gained, "followers_lost": lost,
		"posts": 40 + max(0, n), "visitors": followers/10 + gained} {
		if slices.Contains(has, name) {
			*day.Of(name) = &n
		}
	}
	counts := (&SandboxPlatform{caps: platform.Capabilities{Metrics: has}}).counts(d, followers/4+d.between(0, 0, 500))
	day.Metrics = counts
	return day
}

// Earlier is a post that an account of the sandbox has had before it was connected.
type Earlier struct {
	At      time.Time
	Kind    platform.Kind
	Metrics platform.Metrics
}

// The simulated earlier posts of an account: how many, and the days over which they are spread.
const (
	earlierPosts = 240
	earlierDays  = 120
)

// Earlier returns the earlier posts of an account as of a time, the latest first. Posts of the evening and of the
// morning, and videos, are received better than others, so that comparisons can be tried.
func (p *SandboxPlatform) Earlier(account string, before time.Time) (all []Earlier) {
	if len(p.caps.Metrics) == 0 {
		return nil
	}
	kinds := slices.DeleteFunc(platform.Kinds(), func(k platform.Kind) bool { _, ok := p.caps.Kinds[k]; return !ok })
	if len(kinds) == 0 {
		return nil
	}
	hours := []int{8, 8, 12, 15, 18, 18, 19, 22}
	first := platform.Midnight(before)
	for n := range earlierPosts {
		day := first.AddDate(0, 0, -1-n*earlierDays/earlierPosts)
		d := roll(account + "#" + day.Format(time.DateOnly) + "#" + string(rune('a'+n%2)))
		post := Earlier{At: day.Add(time.Duration(hours[d.between(0, 0, int64(len(hours)))]) * time.Hour),
			Kind: kinds[d.between(1, 0, int64(len(kinds)))]}
		factor := map[int]float64{8: 1.2, 18: 1.5, 19: 1.6, 22: 0.7}[post.At.Hour()]
		factor = cmp.Or(factor, 0.9)
		if post.Kind == platform.KindVideo {
			factor *= FavorVideo
		}
		noise := math.Exp(float64(d.between(2, 0, 1000))/1000 - 0.5)
		post.Metrics = p.counts(d, int64(3000*noise))
		if m := &post.Metrics; m.Views != nil { // reactions for each view differ, too
			for _, count := range []*int64{m.Views, m.Impressions, m.Reach} {
				scale(count, math.Sqrt(factor))
			}
		}
		react(&post.Metrics, factor*math.Sqrt(factor))
		all = append(all, post)
	}
	return all
}

var _ platform.PastReader = (*SandboxPlatform)(nil)

// PastPosts implements platform.PastReader. The posts are those of Earlier, with texts of the sandbox.
func (p *SandboxPlatform) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	if err := ended(ctx); err != nil {
		return nil, "", err
	}
	if p.caps.Past.Page == 0 {
		return nil, "", platform.Unsupported("a list of earlier posts")
	}
	from, _ := strconv.Atoi(cursor)
	all := p.Earlier(a.ID, p.now())
	slices.SortStableFunc(all, func(a, b Earlier) int { return b.At.Compare(a.At) })
	for n := from; n < min(from+p.caps.Past.Page, len(all)); n++ {
		e := all[n]
		posts = append(posts, platform.PastPost{Kind: e.Kind,
			ID:   fmt.Sprintf("%s-%s-%d", a.ID, e.At.Format("20060102"), n),
			Text: fmt.Sprintf("Earlier post %d of the sandbox", len(all)-n), At: e.At, Metrics: e.Metrics})
	}
	if from += p.caps.Past.Page; from < len(all) {
		next = strconv.Itoa(from)
	}
	return posts, next, nil
}

func scale(count *int64, by float64) {
	if count != nil {
		*count = int64(float64(*count) * by)
	}
}
