// Package platform is the interface to the platforms on which content is published. Each subpackage
// is an adapter for one platform; platformtest is the conformance suite of all adapters.
//
// A publication is a chain of small steps: start, check, finalize. The caller stores the handle of a step before it
// takes the next step. The call that makes the post is made once. If its answer is lost, the adapter finds the outcome
// by reading (Reconcile), or the publication fails with the code outcome_unknown. The call is never sent again. Next
// takes the steps in this order, so that callers do not need to know the rules.
package platform

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform/texts"
	"github.com/content-automation/api/pkg/base/format"
)

// Adapter is one platform. Its methods are safe for concurrent use, return before the context's
// deadline, and never sleep. They return errors of type *Error for every answer of the platform.
type Adapter interface {
	// Name returns the platform's id, such as telegram.
	Name() string

	// Capabilities returns the limits of the platform and its way to connect accounts.
	Capabilities() Capabilities

	Connector
	Publisher
}

// Connector connects accounts of a platform.
type Connector interface {
	// Authorization returns the address that the account's owner opens in a browser to allow
	// the connection. The error is BadContent if the platform has no OAuth.
	Authorization(ctx context.Context, a Authorization) (string, error)

	// Connect returns the accounts on which a grant allows to publish, each with its token. It
	// returns one account, unless the owner has several pages or channels and the grant chooses
	// none. The error is Reconnect if the platform refuses the grant, or Retry.
	Connect(ctx context.Context, g Grant) ([]Account, error)

	// Refresh returns a token with a later end. Because a platform may rotate the refresh token, the caller stores the
	// new token before it uses it, and never refreshes an account twice at the same time. If an answer with a rotated
	// token is lost, the platform refuses the repeat. Refresh returns a token that does not end unchanged. The error is
	// Reconnect if the platform refuses the token, or Retry.
	Refresh(ctx context.Context, a Account) (Token, error)

	// Revoke ends the token at the platform, if the platform can do so. A token that has ended
	// already is no error. The error is Retry.
	Revoke(ctx context.Context, a Account) error
}

// Publisher publishes posts and reads their metrics. The post is the same at every step of a
// publication, and Fit has found no problem in it.
type Publisher interface {
	// Start prepares the post and makes nothing visible. It may be repeated, because media that an earlier attempt has
	// left at the platform never become a post. The error is of any kind except Unknown.
	Start(ctx context.Context, a Account, p Post) (Step, error)

	// Check reads the progress of the platform, or prepares more of the post. It may be
	// repeated with the same handle. The error is of any kind except Unknown.
	Check(ctx context.Context, a Account, p Post, h Handle) (Step, error)

	// Finalize makes the call that makes the post visible, or the next such call if the post has several parts. The
	// error is of any kind. An error of any kind except Unknown and Restart means that the call had no effect.
	Finalize(ctx context.Context, a Account, p Post, h Handle) (Step, error)

	// Reconcile finds the outcome of a Finalize whose answer was lost, and which began at the given time, by reading.
	// Step.Next is StageFinalize only if the protocol makes a repeat harmless, and StageReconcile if the outcome is not
	// visible yet. The error is Unknown if the platform offers nothing to read, and Restart only if nothing was and
	// nothing will be posted. It may be of any other kind.
	Reconcile(ctx context.Context, a Account, p Post, h Handle, begun time.Time) (Step, error)

	// Metrics reads the metrics of a post. The error is of any kind except Unknown and Restart.
	Metrics(ctx context.Context, a Account, p PublishedPost) (Metrics, error)
}

// Stage is the kind of the next step in a publication.
type Stage string

// The stages of a publication.
const (
	StageStart     Stage = "start"
	StageCheck     Stage = "check"
	StageFinalize  Stage = "finalize"
	StageReconcile Stage = "reconcile"
	StageDone      Stage = "done"
)

// Step is the result of a step.
type Step struct {
	Next   Stage
	Handle Handle        // for the next step
	Wait   time.Duration // before the next step, or 0
	Post   PublishedPost // as far as it is known
	// Warning is the requested part that the post lacks, or nil if the post is complete.
	Warning *Warning
}

// Warning is a part of a post that the platform has refused although it has taken the post.
type Warning struct {
	Code    WarningCode `json:"code"`
	Message string      `json:"message"` // for the caller, in whole sentences
	// PlatformMessage is what the platform has said, or nil if it has said nothing.
	PlatformMessage *string `json:"platform_message,omitempty"`
}

// WarningCode is the code of a warning, as callers see it.
type WarningCode string

// The codes of warnings.
const (
	CoverNotSet       WarningCode = "cover_not_set"
	CommentNotWritten WarningCode = "first_comment_not_written"
	FinishInApp       WarningCode = "finish_in_app"
	NotInPlaylist     WarningCode = "not_in_playlist"
	CaptionsNotSet    WarningCode = "captions_not_set"
	HashtagNotShown   WarningCode = "hashtag_not_shown"
	EditListIgnored   WarningCode = "edit_list_ignored"
)

// Warn returns a warning about the part that an error has left out, with the reason that the error states.
func Warn(code WarningCode, what string, err error) *Warning {
	var e *Error
	if errors.As(err, &e) {
		what += " " + e.Message
	}
	w := &Warning{Code: code, Message: what}
	if words := WordsOf(err); words != "" {
		w.PlatformMessage = &words
	}
	return w
}

// CommentInDoubt returns the step that ends a publication whose first comment may or may not exist.
// The comment is not written again.
func CommentInDoubt() Step {
	return Step{Next: StageDone, Warning: &Warning{Code: CommentNotWritten, Message: "The answer to the first " +
		"comment was lost. Look at the post: the comment may exist."}}
}

// PublishedPost is a post at its platform.
type PublishedPost struct {
	ID  string `json:"id,omitempty"` // the platform's id, empty if the platform does not tell it
	URL string `json:"url,omitempty"`
	// More are the ids of the other posts of a thread and of its first comment, in their order and separated by commas,
	// where the platform has no other way to name them.
	More string `json:"more,omitempty"`
	// Ahead is the time by which the clock of the sandbox was moved since. Others ignore it.
	Ahead time.Duration `json:"-"`
}

// MaxHandle bounds the length of a handle, which is stored on its task.
const MaxHandle = 4096

// Handle is the state that an adapter keeps of a publication between steps. Only the adapter that
// made it can read it. It may contain an upload address, which is as good as a password. So it is
// redacted when it is printed or logged, and sealed before it is stored.
type Handle string

var (
	_ fmt.Formatter  = Handle("")
	_ slog.LogValuer = Handle("")
)

// Format implements fmt.Formatter, for all verbs.
func (Handle) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue implements slog.LogValuer.
func (Handle) LogValue() slog.Value { return slog.StringValue(redacted) }

// Encode returns the handle with the adapter's state v.
func Encode(v any) (Handle, error) {
	raw, err := json.Marshal(v)
	if err == nil && len(raw) > MaxHandle {
		err = fmt.Errorf("the handle has %d bytes, more than %d", len(raw), MaxHandle)
	}
	if err != nil {
		return "", Reject(CodePlatformUnavailable, "The publication cannot be followed.").Because(err)
	}
	return Handle(raw), nil
}

// Decode reads a handle into v.
func (h Handle) Decode(v any) error {
	if h == "" {
		return Reject(CodeInvalidHandle, "The publication is not known.").Because(errors.New("the handle is empty"))
	}
	if err := json.Unmarshal([]byte(h), v); err != nil {
		return Reject(CodeInvalidHandle, "The publication is not known.").Because(err)
	}
	return nil
}

// Go returns the step to a stage with the adapter's state v.
func Go(next Stage, v any, wait time.Duration) (Step, error) {
	h, err := Encode(v)
	return Step{Next: next, Handle: h, Wait: wait}, err
}

// Count returns the value of a metric that the platform has.
func Count(n int64) *int64 { return &n }

// Connect is a way to connect an account.
type Connect string

// The ways to connect.
const (
	ConnectOAuth    Connect = "oauth2"
	ConnectBotToken Connect = "bot_token"
	ConnectPassword Connect = "password"
)

// Capabilities describes the limits and features of a platform. Each adapter has one table of them,
// which callers must not change.
type Capabilities struct {
	Label   string // the platform's name as it writes it
	Connect Connect
	Scopes  []string // requested in the authorization
	Beta    bool     // the interface is poorly documented and may change
	// PublicApp reports whether the application has no secret and proves itself by PKCE alone.
	PublicApp bool
	// CommunityToken reports whether the token of a community can connect an account, too.
	CommunityToken bool

	Kinds    map[Kind]Rule
	Hashtags Hashtags // their number and placement
	Origin   Origin   // how it learns that AI has made a post
	Alt      Text     // of each image
	Comment  Text     // the first comment
	Comments Commenting

	Options   []Option
	Shape     any       // zero value of the type of its options, as callers send them
	Privacies []Privacy // the first is the default
	Metrics   []string  // names of the members of Metrics that posts have, in the order of Names
	// Account describes the figures of an account, or is the zero value if there are none. If there
	// are, the platform is an AccountReader.
	Account AccountFigures
	// Past describes the list of the earlier posts of an account, or is the zero value if there is none. If there is,
	// the platform is a PastReader.
	Past Past
	// Lookups are the kinds of what a Finder finds.
	Lookups []Lookup
	// Reads bounds the readings of the metrics of posts, or is nil if no bound but that of each call is known.
	Reads *Reads

	// DailyPosts is how many posts an account may publish in 24 hours, or 0 if no limit is
	// known. The adapter asks the platform for the limit if the platform can tell it.
	DailyPosts int
	// Budget is a further limit on publications, or nil if none is known.
	Budget *Budget
	// Plain reports whether the platform refuses media that show a logo or the name of a brand.
	Plain bool
	// RequiredChoices returns the choices that the rules of the platform ask of the person who posts, and that a post
	// lacks. It is nil if there are none.
	RequiredChoices func(Post) []Problem
	// Refuses returns what is wrong with the options of a post beyond their shape. It is nil if nothing can be.
	Refuses func(Post) []Problem
	// Edits and Deletes report whether the platform is an Editor and a Deleter.
	Edits, Deletes bool
	// Reader reads the links, hashtags and mentions of a text as the platform does.
	Reader texts.Reader
	// Markup returns the markup of the texts of a post with the options, or is nil if all texts are plain.
	Markup func(Options) Markup
	// Habits tell writers of texts how people read the platform.
	Habits Habits
	// Notes are facts that a caller or operator has to know, in whole sentences.
	Notes []string
}

// Mark is a mark in a file that says that AI has made it.
type Mark string

// The marks that platforms read.
const (
	MarkIPTC Mark = "iptc" // DigitalSourceType of IPTC in XMP
	MarkC2PA Mark = "c2pa" // Content Credentials
)

// Origin describes how a platform learns that AI has made a post.
type Origin struct {
	// Flag reports whether a member of the post declares it.
	Flag bool
	// Reads are the marks in files that the platform reads, to label a post by itself.
	Reads []Mark
	// Source is the page that says so, empty if the platform has neither.
	Source string
}

// Silent reports whether only the text of a post can say that AI has made it.
func (o Origin) Silent() bool { return !o.Flag && len(o.Reads) == 0 }

// Habits are what readers of a platform are used to. The figures are estimates, since platforms change their displays
// without notice.
type Habits struct {
	// FirstLine is the number of characters of a caption that are seen before a reader opens it, 0 if all are seen.
	FirstLine int
	// MinCaption and Most bound the usual length of a caption in characters.
	MinCaption, MaxCaption int
	// Hashtags is the usual number of hashtags.
	Hashtags int
	// Links reports whether an address in a caption can be opened.
	Links bool
	// Action is the call to action that is usual, in a clause.
	Action string
	// Form says how posts are built there, in sentences. It may be empty.
	Form string
	// Hours are the hours at which its audience is mostly there on working days, the best first, and WeekendHours those
	// of weekends. They are what the published studies of schedulers (Buffer, Hootsuite, Sprout Social: 2024 and 2025)
	// have in common, and give way to the account's own figures. Without hours, those of most platforms count.
	Hours, WeekendHours []int
}

// Budget is how much of a resource, such as uploads, publications may use in 24 hours. Publications
// wait while the budget is used up.
type Budget struct {
	Max int
	// Shared reports whether all accounts of the operator's application have one budget, which
	// is spread over its day. Otherwise, each account has its own budget for any 24 hours.
	Shared bool
	Starts time.Duration // start of the day of a shared budget, after midnight in UTC
	// Files reports whether each of several media uses as much as the post itself.
	Files bool
	// Cost returns how much of the budget a post uses, or is nil.
	Cost func(Post) int
	// Unit is how much of the budget customers count as one in the limit of their own applications, and Least the least
	// such limit. Zero stands for one.
	Unit, Least int
}

// Uses returns how much of the budget a post uses.
func (b Budget) Uses(p Post) int {
	if b.Cost != nil {
		return b.Cost(p)
	}
	if b.Files && len(p.Media) > 1 {
		return 1 + len(p.Media)
	}
	return 1
}

// Rule bounds the posts of one kind.
type Rule struct {
	Title   Text // the zero value if the platform has no titles
	Caption Text
	// Rest bounds a caption that is too long for the media and is published in two parts: the
	// media with the first part, then the rest as a separate message.
	Rest Text
	// Thread is how many posts a caption may take with the option thread, or 0 if it takes one.
	Thread int

	MinMedia, MaxMedia int
	Image, Video       *File // nil if the kind takes none

	// Without are the options of the platform that posts of the kind do not have.
	Without []Option
}

// Supports reports whether posts of a kind have an option.
func (c Capabilities) Supports(kind Kind, o Option) bool {
	return slices.Contains(c.Options, o) && !slices.Contains(c.Kinds[kind].Without, o)
}

// Rule returns the bounds of a post, whose texts may have markup.
func (c Capabilities) Rule(p Post) Rule {
	rule := c.Kinds[p.Kind]
	if c.Markup != nil {
		markup := c.Markup(p.Options)
		rule.Caption.Markup, rule.Rest.Markup = markup, markup
	}
	return rule
}

// Markup is the language in which a text is written. The empty one is plain text.
type Markup string

// HTML is the HTML of Telegram. Platforms count what a reader sees of it.
const HTML Markup = "html"

// Text bounds a text. The zero value permits no text.
type Text struct {
	Max       int
	Unit      Unit   // Runes if empty
	MaxBytes  int    // a further limit in bytes, or 0
	Forbidden string // characters that the platform refuses
	Required  bool
	Markup    Markup
	// MaxLinks, MaxMentions and MaxCashtags bound what each text that is published has: its different links, the names
	// of accounts in it, and the symbols of shares. 0 sets no bound.
	MaxLinks, MaxMentions, MaxCashtags int
}

// File bounds a media file. A zero member sets no bound. Sizes are in pixels.
type File struct {
	MIMEs              []string
	MaxBytes           int64
	MinRatio, MaxRatio float64 // width by height
	MaxSides           int     // width and height together
	MaxWidth           int
	// MinShort and MaxShort bound the shorter side, and MaxLong the longer one.
	MinShort, MaxShort, MaxLong int
	MaxPixels                   int // width multiplied by height
	MinTime, MaxTime            time.Duration
	// Form bounds the codecs of videos.
	Form Form
}

// Hashtags describes how a platform takes hashtags.
type Hashtags struct {
	Max int // 0 if the platform takes none
	// InCaption reports whether hashtags in the caption count, too.
	InCaption bool
	// Strict reports whether each # counts that any reader could take as the beginning of a hashtag, because the
	// platform does not say what it takes as one.
	Strict bool
	// Tags reports whether the hashtags are a separate list of at most Total characters.
	// Otherwise, they are the last paragraph of the caption.
	Tags  bool
	Total int
}

// Secret is a token or password. It is redacted when it is printed or logged. Its JSON is in clear,
// because an account is sealed before it is stored.
type Secret string

var (
	_ fmt.Formatter  = Secret("")
	_ slog.LogValuer = Secret("")
)

const redacted = "[redacted]"

// Format implements fmt.Formatter, for all verbs.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// Reveal returns the secret itself, to be sent to its platform and nowhere else.
func (s Secret) Reveal() string { return string(s) }

// Token is the right to publish on an account.
type Token struct {
	Access    Secret    `json:"access"`
	Refresh   Secret    `json:"refresh,omitempty"`
	ExpiresAt time.Time `json:"expires_at,omitzero"` // end of Access, or zero if it does not end
	Scopes    []string  `json:"scopes,omitempty"`
	// EndsAt is when the right itself ends, or zero if it does not. No refresh extends it: the
	// owner of the account has to connect it again before then.
	EndsAt time.Time `json:"ends_at,omitzero"`
	Device string    `json:"device,omitempty"` // device to which VK ID binds the refresh token
}

// Lacks reports whether the owner has refused one of the requested scopes. It returns false if the
// platform does not list the granted scopes.
func (t Token) Lacks(scopes []string) bool {
	return len(t.Scopes) > 0 && slices.ContainsFunc(scopes,
		func(s string) bool { return !slices.Contains(t.Scopes, s) })
}

// Account is an account of a platform: a channel, a page, a community.
type Account struct {
	ID        string `json:"id"` // the platform's
	Handle    string `json:"handle,omitempty"`
	Name      string `json:"name,omitempty"`
	AvatarURL string `json:"avatar_url,omitempty"`
	Token     Token  `json:"token"`
	// Grantor is the platform's id of the person who has granted the access, if it is another one than ID. A platform
	// that tells of removed rights names the person.
	Grantor string `json:"grantor,omitempty"`
}

// App is the application that the operator, or a customer, has registered with a platform.
type App struct {
	ID     string `json:"client_id"`
	Secret Secret `json:"client_secret"`
	// Scopes are requested instead of the platform's usual ones, separated by spaces. They are
	// empty unless the platform has granted the application other rights.
	Scopes string `json:"scopes"`
	// HookToken is the secret that the operator has entered at the platform for webhooks, or empty if it sends none.
	HookToken Secret `json:"hook_token"`
	// Confirmations has the text by which each community of VK confirms the address of webhooks, as in
	// "123=abcd 456=ef".
	Confirmations string `json:"confirmations"`
}

type appKey struct{}

// WithApp returns a context whose calls of platforms use an application in place of the operator's.
func WithApp(ctx context.Context, app App) context.Context {
	return context.WithValue(ctx, appKey{}, app)
}

// AppOf returns the application that the calls of a context use in place of the operator's, and reports whether there
// is one.
func AppOf(ctx context.Context) (App, bool) {
	app, ok := ctx.Value(appKey{}).(App)
	return app, ok
}

// Authorization is a request to connect an account by OAuth 2.
type Authorization struct {
	RedirectURL string
	State       string // returned with the code; signed, single-use and short-lived
	Verifier    string // PKCE verifier (RFC 7636), kept until the code is exchanged
}

// Challenge returns the S256 challenge of a PKCE verifier.
func Challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Grant has the credentials that connect an account. Its members depend on how the platform connects accounts.
type Grant struct {
	// The code of OAuth 2, with the redirect URL and the verifier of its authorization.
	Code        string
	RedirectURL string
	Verifier    string
	Device      string // device_id of the callback of VK ID

	// The token of a bot or community.
	Token Secret

	// The credentials of a login. The password is used once and is not kept.
	Username string
	Password Secret

	// Choice is the channel, chat, page or community: its id, or a name such as @acme. If it is
	// empty, the grant connects every account that it allows.
	Choice string
}

// Version is the version of a platform's interface that an adapter names in its calls.
type Version struct {
	Name string
	// EndsOn is the day on which the platform ends the version, or the first day on which it may by its own rules
	// while it has named none (YYYY-MM-DD, UTC). It is empty if the platform ends no versions.
	EndsOn string
	// Source is the page of the platform that says so.
	Source string
}

// Versions are the versions by the name of the platform. Platforms that are not in it name none in their calls, or
// a path that they have never ended. A test fails 90 days before an end: read the changes of the versions since, set
// the new one here, and run the conformance tests.
var Versions = map[string]Version{
	"facebook":  graphVersion,
	"instagram": graphVersion,
	"linkedin": {"202607", "2027-07-15", // supported for a year at least; others of 2026 end in the middle of the month
		"https://learn.microsoft.com/en-us/linkedin/marketing/integrations/migrations"},
	"threads": {"v1.0", "", "https://developers.facebook.com/docs/threads/changelog"},
	"vk":      {"5.199", "", "https://dev.vk.com/en/reference/versions"},
}

// graphVersion was published on 29 July 2026. Meta ends a version two years after it has published it, at the earliest.
var graphVersion = Version{"v26.0", "2028-07-29", "https://developers.facebook.com/docs/graph-api/changelog/versions"}

func init() {
	format.Define("digits", format.Format{Pattern: "^[0-9]{1,32}$", Wanted: "an id of digits"})
	format.Define("poll-choice", format.Format{Shortest: 1, Longest: 30, Fewest: 2, Many: 4, Distinct: true})
	texts := format.Values(Runes, UTF16, Bytes, Graphemes, EmojiBytes, Weighted)
	format.Define("text-unit", format.Format{Values: texts})
	format.Define("limit-unit", format.Format{Values: append(texts[:len(texts):len(texts)], "hashtags", "media")})
}

// Hook is a request to the address for the webhooks of a platform.
type Hook struct {
	Method string
	Query  url.Values
	Header http.Header
	Body   []byte
}

// ChangedPost is a post whose comments have changed, as a webhook says.
type ChangedPost struct {
	Account, Post string // ids at the platform
}

// ErrForged means that a webhook does not come from the platform.
var ErrForged = errors.New("platform: the webhook is not the platform's")

// Announcer is a platform that announces changes of comments by webhooks.
type Announcer interface {
	// ChangedPosts verifies a webhook. It returns the posts that the webhook names, and the text that the platform
	// wants as the answer. It returns ErrForged for a webhook that does not come from the platform, and an error of any
	// kind if the application cannot be read. It makes no calls.
	ChangedPosts(ctx context.Context, h Hook) (posts []ChangedPost, answer string, err error)
}

// SameSecret reports whether a text that somebody has sent is a secret, in constant time. It never is if the secret is
// empty.
func SameSecret(given string, s Secret) bool { return s != "" && hmac.Equal([]byte(given), []byte(s)) }

// LookupKind is the kind of what options of posts name by its id.
type LookupKind string

// These are the kinds of what options name by ids.
const (
	LookupLocation     LookupKind = "location"
	LookupMember       LookupKind = "member"
	LookupOrganization LookupKind = "organization"
	LookupPlaylist     LookupKind = "playlist"
	LookupBoard        LookupKind = "board"
)

// Lookup is something that a platform finds.
type Lookup struct {
	Kind LookupKind
	// Searches reports whether the platform finds it by a text. Otherwise it lists all.
	Searches bool
	// Units are what a call uses of the platform's bound of readings (Reads), or 0.
	Units int
}

// LookupResult is what a lookup has found. Its texts are those of the platform.
type LookupResult struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Detail string `json:"detail,omitempty"` // such as the address of a place
}

// Finder is a platform whose Capabilities have Lookups.
type Finder interface {
	// Lookup finds what has a name. The text is empty for a kind that is listed. The error is of any kind except
	// Unknown and Restart.
	Lookup(ctx context.Context, a Account, kind LookupKind, text string) ([]LookupResult, error)
}

// FindsBy returns the lookup of a kind, and reports whether the platform has it.
func (c Capabilities) FindsBy(kind LookupKind) (Lookup, bool) {
	for _, l := range c.Lookups {
		if l.Kind == kind {
			return l, true
		}
	}
	return Lookup{}, false
}

// Creator is what a platform allows an account to choose for its next post.
type Creator struct {
	Username, Nickname, AvatarURL string
	Privacies                     []Privacy
	// Comments, Duet and Stitch report whether the creator permits them.
	Comments, Duet, Stitch bool
	MaxVideoSeconds        int64
	// Full reports that the creator may make no more posts for now.
	Full bool
}

// CreatorReader is a platform whose rules ask for choices of the person who posts.
type CreatorReader interface {
	// CreatorInfo reads what an account may choose now. The error is of any kind except Unknown and Restart.
	CreatorInfo(ctx context.Context, a Account) (Creator, error)
}

// PlacedPost is a published post, with what changes of it depend on.
type PlacedPost struct {
	PublishedPost
	// Media is the number of its media, and Parts the number of its messages, where the platform has several.
	Media, Parts int
	// Options are the options of the post, of which some platforms need the form of its text.
	Options Options
}

// Editor is a platform that changes the text of published posts. Its Capabilities.Edits is set.
type Editor interface {
	// Edit replaces the text of a post. It may be repeated: the post then has the same text. An error is of any kind
	// but Restart; Unknown means that the text may have been changed.
	Edit(ctx context.Context, a Account, p PlacedPost, text string) error
}

// Posts returns the ids of all its posts, the last first: a thread of which some were deleted is still one.
func (p PlacedPost) Posts() []string {
	ids := []string{p.ID}
	if p.More != "" {
		ids = append(ids, strings.Split(p.More, ",")...)
	}
	slices.Reverse(ids)
	return ids
}

// Deleter is a platform that deletes published posts. Its Capabilities.Deletes is set.
type Deleter interface {
	// Delete removes a post. It may be repeated: a post that does not exist any more is no error. An error is of any
	// kind but Restart; Unknown means that the post may have been removed.
	Delete(ctx context.Context, a Account, p PlacedPost) error
}

// Removal is what a webhook tells of a person who has connected accounts: that the rights of the application are
// removed, or that the person's data are to be deleted.
type Removal struct {
	// Person is the platform's id of the person for the application, as in Account.Grantor. It is empty if the webhook
	// tells of something else.
	Person string
	// At is when it happened.
	At time.Time
}

// A Remover is a platform that tells when the rights of an application are removed.
type Remover interface {
	// Removed verifies a webhook by the secret of an application. It returns ErrForged for one that does not come from
	// the platform, or is too old. It makes no calls.
	Removed(app App, h Hook, now time.Time) (Removal, error)
}

// A Forgetter is a platform that asks to delete the data of a person.
type Forgetter interface {
	Remover
	// Forgotten is Removed for the webhook that asks for a deletion.
	Forgotten(app App, h Hook, now time.Time) (Removal, error)
}

// Recent reports whether a webhook of a time is new enough to be taken. The clock of its sender may be ahead.
func Recent(at, now time.Time, most time.Duration) bool {
	const ahead = 5 * time.Minute
	age := now.Sub(at)
	return age <= most && age >= -ahead
}
