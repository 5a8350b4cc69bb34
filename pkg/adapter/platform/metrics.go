package platform

import (
	"context"
	"slices"
	"time"
)

// Metrics are the counts of a post since it was published, or of an account on a day. A count that
// the platform does not have is nil.
type Metrics struct {
	Impressions *int64 `json:"impressions,omitempty"`
	Reach       *int64 `json:"reach,omitempty"`
	Views       *int64 `json:"views,omitempty"`
	WatchTime   *int64 `json:"watch_time_seconds,omitempty"`
	Likes       *int64 `json:"likes,omitempty"`
	Comments    *int64 `json:"comments,omitempty"`
	Shares      *int64 `json:"shares,omitempty"`
	Saves       *int64 `json:"saves,omitempty"`
	Clicks      *int64 `json:"clicks,omitempty"`
}

// Names are the names of the members of Metrics, in their order.
var Names = [...]string{"impressions", "reach", "views", "watch_time_seconds", "likes", "comments", "shares", "saves",
	"clicks"}

// All returns pointers to the members, in the order of Names.
func (m *Metrics) All() [len(Names)]**int64 {
	return [...]**int64{&m.Impressions, &m.Reach, &m.Views, &m.WatchTime, &m.Likes, &m.Comments, &m.Shares, &m.Saves,
		&m.Clicks}
}

// Names returns the names of the counts that are known.
func (m Metrics) Names() (names []string) {
	for i, count := range m.All() {
		if *count != nil {
			names = append(names, Names[i])
		}
	}
	return names
}

// Or returns the metrics with the counts of earlier ones in place of those that are not known.
func (m Metrics) Or(earlier Metrics) Metrics {
	before := earlier.All()
	for i, count := range m.All() {
		if *count == nil {
			*count = *before[i]
		}
	}
	return m
}

// Reads bounds the readings of the metrics of posts of all accounts of the operator's application.
// Readings beyond the bounds are left out: the next one follows at its time.
type Reads struct {
	// Max is how many readings the platform takes on a day, or 0 if the bound is that of Price.
	Max int
	// Price is what a reading uses of Capabilities.Budget, and Part the part of the budget that
	// readings may use: 4 is a fourth. Both are 0 if readings use nothing of it.
	Price, Part int
}

// AccountFigures describes the figures of an account.
type AccountFigures struct {
	// Names are the names of the members of Day that the platform has.
	Names []string
	// History reports whether the platform tells earlier days. Otherwise, the figures are those of
	// the moment, and are read once a day.
	History bool
	// Price is what a reading uses of Capabilities.Budget instead of Reads.Price, or 0.
	Price int
}

// Day has the figures of an account on a day, in UTC. A figure that the platform does not have is nil.
type Day struct {
	Date time.Time `json:"date"`
	// Followers is how many followers the account has at the end of the day, or when it is read.
	Followers *int64 `json:"followers,omitempty"`
	// Gained and Lost are the followers who came and went on the day.
	Gained *int64 `json:"followers_gained,omitempty"`
	Lost   *int64 `json:"followers_lost,omitempty"`
	// Posts is how many posts the account has.
	Posts *int64 `json:"posts,omitempty"`
	// Visitors is how many people have visited the page of the account on the day.
	Visitors *int64 `json:"visitors,omitempty"`
	// Metrics count what happened on the day to all posts of the account.
	Metrics
}

// dayNames are the names of the members of Day that are not of Metrics, in their order.
var dayNames = [...]string{"followers", "followers_gained", "followers_lost", "posts", "visitors"}

// all returns pointers to the members that are not of Metrics, in the order of dayNames.
func (d *Day) all() [len(dayNames)]**int64 {
	return [...]**int64{&d.Followers, &d.Gained, &d.Lost, &d.Posts, &d.Visitors}
}

// Of returns a pointer to the figure of a name, or nil if there is none of it.
func (d *Day) Of(name string) **int64 {
	if i := slices.Index(dayNames[:], name); i >= 0 {
		return d.all()[i]
	}
	if i := slices.Index(Names[:], name); i >= 0 {
		return d.Metrics.All()[i]
	}
	return nil
}

// Or returns the day with the figures of an earlier reading in place of those that are not known.
func (d Day) Or(earlier Day) Day {
	before := earlier.all()
	for i, figure := range d.all() {
		if *figure == nil {
			*figure = *before[i]
		}
	}
	d.Metrics = d.Metrics.Or(earlier.Metrics)
	return d
}

// Names returns the names of the figures that are known.
func (d Day) Names() (names []string) {
	for i, figure := range d.all() {
		if *figure != nil {
			names = append(names, dayNames[i])
		}
	}
	return append(names, d.Metrics.Names()...)
}

// AccountReader is a platform that tells figures of accounts. Its Capabilities.Account is set.
type AccountReader interface {
	// Days reads the figures of an account from a day to the present one, in order. Days without figures may be
	// left out. A platform without a history returns the present day alone. The error is of any kind except
	// Unknown and Restart.
	Days(ctx context.Context, a Account, from time.Time) ([]Day, error)
}

// Midnight returns the beginning of the day of a time in UTC.
func Midnight(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// Days are the days of a period, in order.
type Days []Day

// NewDays returns the days from a time to now, at most most days before now.
func NewDays(from, now time.Time, most int) (all Days) {
	last := Midnight(now)
	at := Midnight(from)
	if first := last.AddDate(0, 0, -most); at.Before(first) {
		at = first
	}
	for ; !at.After(last); at = at.AddDate(0, 0, 1) {
		all = append(all, Day{Date: at})
	}
	return all
}

// At returns the day of a time, or nil if it is none of them.
func (all Days) At(t time.Time) *Day {
	i := int(Midnight(t).Sub(all[0].Date).Hours() / 24)
	if t.Before(all[0].Date) || i >= len(all) {
		return nil
	}
	return &all[i]
}

// Last returns the present day.
func (all Days) Last() *Day { return &all[len(all)-1] }

// Past describes how a platform lists the posts that an account has had before it was connected.
type Past struct {
	// Page is the most posts of a call, or 0 if the platform has no list.
	Page int
	// Figures reports whether the list has the figures of the posts. Otherwise, they are read as those of own posts.
	Figures bool
	// Price is what a call uses of Capabilities.Budget instead of Reads.Price, or 0.
	Price int
}

// PastPost is a post of an account, whoever has published it.
type PastPost struct {
	ID   string    `json:"id"`
	Kind Kind      `json:"kind"`
	Text string    `json:"text,omitempty"`
	At   time.Time `json:"at"`
	Metrics
}

// PastReader is a platform that lists earlier posts of accounts. Its Capabilities.Past is set.
type PastReader interface {
	// PastPosts lists the posts of an account, the latest first. The first cursor is empty, and next is empty after the
	// last page. The error is of any kind except Unknown and Restart.
	PastPosts(ctx context.Context, a Account, cursor string) (posts []PastPost, next string, err error)
}

// Commenting describes what an application can do with the comments on posts. The zero value stands for a platform
// whose comments cannot be read.
type Commenting struct {
	// Reads, Replies, Hides and Deletes report whether the platform is a CommentReader, a Replier, a CommentHider and a
	// CommentDeleter.
	Reads, Replies, Hides, Deletes bool
	// Text bounds a reply.
	Text Text
	// ReadAt are the ages of a post at which its comments are read, or nil for the usual ones. A platform that charges
	// for each comment that it shows has few.
	ReadAt []time.Duration
	// Uses are what the calls use of the budgets of the platform, as Reads counts them.
	Uses CommentUses
}

// RisingReads are the ages of a post at which its comments are read on platforms that bound the calls of a day: at
// rising intervals on the first day, then daily.
var RisingReads = func() []time.Duration {
	at := []time.Duration{10 * time.Minute, 30 * time.Minute}
	for hours := time.Hour; hours < 24*time.Hour; hours *= 2 {
		at = append(at, hours)
	}
	for day := 1; day <= 30; day++ {
		at = append(at, time.Duration(day)*24*time.Hour)
	}
	return at
}()

// CommentUses are what calls about comments use of the budgets of a platform. The zero value uses nothing. A page of
// comments has its use itself.
type CommentUses struct {
	Reply        func(text string) int // nil if a reply uses nothing
	Hide, Delete int                   // at most
}

// OfReply returns what a reply with a text uses, which is nothing without the function Reply.
func (u CommentUses) OfReply(text string) int {
	if u.Reply == nil {
		return 0
	}
	return u.Reply(text)
}

// Comment is a comment on a published post.
type Comment struct {
	ID       string
	ParentID string // comment that it replies to, or empty
	Author   Author
	Text     string
	At       time.Time
	// Own reports whether the account itself has written it.
	Own bool
	// Hidden reports whether other readers do not see it. It is nil if the platform does not say.
	Hidden *bool
}

// Author is the author of a comment.
type Author struct {
	Handle, Name string
}

// CommentPage is a part of the comments on a post, with the cursor of the next part.
type CommentPage struct {
	Comments []Comment
	Next     string // continues the list, or is empty at its end
	// Partial reports that the page lacks comments, such as the later ones of many replies.
	Partial bool
	// Uses is what the calls for the page have used of the budgets of the platform.
	Uses int
}

// CommentReader is a platform that lists the comments on a post, with the replies to them.
type CommentReader interface {
	// Comments returns a page of comments. The argument after is the Next of the page before, or empty. The error is of
	// any kind except Unknown and Restart.
	Comments(ctx context.Context, a Account, p PublishedPost, after string) (CommentPage, error)
}

// Reply is a reply to a comment.
type Reply struct {
	// Key is unique to the reply, and the same at every attempt.
	Key  string
	Post PublishedPost
	To   Comment
	Text string
	// At is the start of the first attempt.
	At time.Time
	// Handle is what an attempt leaves to the next one if its error is Retry, such as what a platform still prepares.
	// The caller stores it between attempts. It may be nil for an attempt that stands alone.
	Handle *Handle
}

// Replier is a platform that takes replies to comments.
type Replier interface {
	CommentReader
	// Reply writes a reply, and returns its id. The error is of any kind except Restart. An error of any kind except
	// Unknown means that the call had no effect.
	Reply(ctx context.Context, a Account, r Reply) (id string, err error)
}

// CommentHider is a platform that hides comments from other readers.
type CommentHider interface {
	// HideComment hides a comment, or shows it again. It may be repeated. The error is of any kind except Restart.
	HideComment(ctx context.Context, a Account, p PublishedPost, commentID string, hidden bool) error
}

// CommentDeleter is a platform that deletes comments on own posts.
type CommentDeleter interface {
	// DeleteComment deletes a comment. It may be repeated: a comment that does not exist any more is no error. The
	// error is of any kind except Restart.
	DeleteComment(ctx context.Context, a Account, p PublishedPost, commentID string) error
}

// mostReplyPages bounds the pages that FindReply reads.
const mostReplyPages = 10

// FindReply looks for a reply whose answer was lost among the comments on its post, and returns its id. It returns an
// empty id if the reply is not visible, which does not prove that it will never be.
func FindReply(ctx context.Context, c CommentReader, a Account, r Reply) (string, error) {
	after := ""
	for range mostReplyPages {
		page, err := c.Comments(ctx, a, r.Post, after)
		if err != nil {
			return "", err
		}
		for _, one := range page.Comments {
			// A reply to a reply belongs to the first comment on most platforms. The clock of the platform may differ
			// by some seconds.
			below := one.ParentID != "" && (one.ParentID == r.To.ID || one.ParentID == r.To.ParentID)
			if one.Own && below && Same(one.Text, r.Text) &&
				!one.At.Before(r.At.Add(-time.Minute)) {
				return one.ID, nil
			}
		}
		if after = page.Next; after == "" {
			break
		}
	}
	return "", nil
}

// CodeCommentNotFound is the code of a comment that does not exist any more.
const CodeCommentNotFound Code = "comment_not_found"

// CommentGone returns the error of a comment that does not exist any more.
func CommentGone() *Error {
	return Reject(CodeCommentNotFound, "The comment does not exist on the platform any more.")
}

// Gone reports whether an error says that a comment does not exist any more.
func Gone(err error) bool { return CodeOf(err) == CodeCommentNotFound }

// Shown returns the member Hidden of a comment.
func Shown(hidden bool) *bool { return &hidden }
