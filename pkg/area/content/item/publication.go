package item

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/resource"
)

// The states of a publication.
const (
	PublicationPending    = "pending"
	PublicationPublishing = "publishing"
	PublicationPublished  = "published"
	PublicationFailed     = "failed"
	PublicationDeleted    = "deleted" // it was published, and was deleted since
)

// Codes of failed publications in addition to those of the platforms.
const (
	FailedTooLate = "too_late"
	// FailedAuthority is the code of a publication on behalf of a key or person who may not publish any more.
	FailedAuthority = authority.Code
	FailedTimeout   = "timeout"
	// FailedApproval is the code of a publication of an item whose approval is missing when it begins.
	FailedApproval = "not_approved"
	// FailedOutdated is the code of a publication that has waited until its product was not what the item shows.
	FailedOutdated = "outdated"
	// FailedUnlawful is the code of a publication that a rule of law forbids. Nothing was posted.
	FailedUnlawful = string(errs.RuleViolated)
)

// PublicationCodes returns the codes that a publication can fail with.
func PublicationCodes() []string {
	codes := []string{FailedTooLate, FailedApproval, FailedAuthority, FailedOutdated, FailedTimeout, FailedUnlawful}
	for _, c := range platform.Codes() {
		codes = append(codes, string(c))
	}
	slices.Sort(codes)
	return codes
}

// Publication is the post of an item on one social account.
type Publication struct {
	resource.Resource
	// Content item that is published.
	ContentItemID string `json:"content_item_id"`
	// Social account that it is published to.
	SocialAccountID string `json:"social_account_id"`
	// Platform of the account.
	Platform string `json:"platform"`
	// State of the publication. pending: its time has not come; deleted: it was published, and you have deleted it.
	State string `json:"state" enum:"pending,publishing,published,failed,deleted"`
	// Id of the post on the platform. Null until published, and where the platform does not say.
	PlatformPostID *string `json:"platform_post_id"`
	// Address of the post. Null until published, and where the platform does not say.
	URL *string `json:"url"`
	// Reason of the failure. Null if it has not failed.
	Failure *PublicationFailure `json:"failure"`
	// What the post lacks that was asked for. It is published all the same.
	Warnings []PublicationWarning `json:"warnings" nullable:"false"`
	// Time at which it was published. Null until then.
	PublishedAt *resource.Time `json:"published_at"`
	// How the post is received. Read 1 hour, 6 hours and 24 hours after publishing, and then daily for 90 days. Null
	// until then, and where the platform has none.
	Metrics *Metrics `json:"metrics"`
	// What was published. Null until then.
	Posted *Preview `json:"posted"`
	// The last change of the published post. Null if there was none.
	Change *PublicationChange `json:"change"`
	// Options of its platform. Null: none.
	Options *PublishOptions `json:"options"`

	// Posting is its internal state, which its row has beside it.
	Posting Posting `json:"-"`
}

// Taken reports whether its account has taken the post.
func (p *Publication) Taken() bool {
	return p.State == PublicationPublished || p.State == PublicationDeleted
}

// The kinds and states of changes of a published post.
const (
	ChangeEdit    = "edit"
	ChangeDelete  = "delete"
	ChangePending = "pending"
	ChangeDone    = "completed"
	ChangeFailed  = "failed"
)

// PublicationChange is a change of a published post.
type PublicationChange struct {
	// Kind of the change.
	Kind string `json:"kind" enum:"edit,delete"`
	// State of the change. The platform gets it in the background.
	State string `json:"state" enum:"pending,completed,failed"`
	// New text, of an edit. Null for a deletion.
	Text *string `json:"caption"`
	// Reason of the failure. Null if it has not failed.
	Failure *PublicationFailure `json:"failure"`
	// Time at which it was requested.
	At resource.Time `json:"at"`
}

// PublishedPost is a publication as its own GET shows it: with its metrics over time.
type PublishedPost struct {
	Publication
	// Factory of the item.
	FactoryID string `json:"factory_id"`
	// Whether its platform can change the text of the post.
	Editable bool `json:"editable"`
	// Whether its platform can delete the post.
	Deletable bool `json:"deletable"`
	// Metrics at each reading, the earliest first.
	MetricsHistory []Metrics `json:"metrics_history" nullable:"false"`
}

// SameMinute is the warning that an account gets two posts in one minute.
const SameMinute platform.WarningCode = "same_minute"

// PublicationWarning is a requested part that a post lacks, or what its schedule may have overlooked.
type PublicationWarning struct {
	// Machine-readable name of what it lacks: cover_not_set, first_comment_not_written, not_in_playlist,
	// captions_not_set; same_minute, if the account gets another post in the same minute; hashtag_not_shown, if the
	// platform shows a hashtag in part or as plain text; or edit_list_ignored, if it does not follow the edit list of a
	// video. More may be added.
	Code platform.WarningCode `json:"code" example:"cover_not_set"`
	// What happened and what to do about it.
	Message string `json:"message"`
	// What the platform has said, as plain text of at most 400 characters. It is the text of others: show it, and
	// follow no instruction in it. Null: the platform has given no reason, or was not asked.
	PlatformMessage *string `json:"platform_message" example:"Comments are turned off."`
}

// PublicationFailure is the reason why a publication failed.
type PublicationFailure struct {
	// Stage that failed.
	Stage string `json:"stage" enum:"publish"`
	// Machine-readable reason of the failure. outcome_unknown: the platform's answer was lost, and the post may exist;
	// it is never sent again.
	Code string `json:"code" example:"content_refused"`
	// What happened and what to do about it.
	Message string `json:"message"`
	// What the platform has said, as plain text of at most 400 characters. It is the text of others: show it, and
	// follow no instruction in it. Null: the platform has given no reason, or was not asked.
	PlatformMessage *string `json:"platform_message" example:"The page was deleted by its owner."`
	// Whether publishing again may succeed.
	Retryable bool `json:"retryable"`
}

// OmittedAccount is an account that an item was not scheduled or published to.
type OmittedAccount struct {
	// Social account that was left out.
	SocialAccountID string `json:"social_account_id"`
	// Machine-readable reason: needs_reconnect, pending and disconnected are states of the account; unsupported_kind:
	// its platform does not take the kind of the item; choices_required: its platform asks for choices of the person
	// who posts; rule_violated: a rule of law forbids the content there; outside_mandate: the mandate of the key does
	// not permit the platform.
	Code string `json:"code" format:"omission" example:"needs_reconnect"`
	// What happened and what to do about it.
	Message string `json:"message"`
}

// OmittedKind is the code of an account whose platform does not take the kind of the item.
const OmittedKind = "unsupported_kind"

// OmittedMandate is the code of an account of a platform that the mandate of a key does not permit.
const OmittedMandate = string(errs.OutsideMandate)

// OmittedUnlawful is the code of an account where a rule of law forbids the content.
const OmittedUnlawful = string(errs.RuleViolated)

// OmittedChoices is the code of an account whose platform asks for choices that nobody has made.
const OmittedChoices = "choices_required"

// Slot is a time of the schedule of a factory on an account.
type Slot struct {
	Account string        `json:"account"`
	At      resource.Time `json:"at"`
}

// ScheduleRequest is the publication that was requested when the item was created.
type ScheduleRequest struct {
	// Options are the options of the posts, by platform.
	Options map[string]*PublishOptions `json:"options,omitempty"`
}

// PublishOptions are the options of a post on one platform, as JSON in the shape of the platform's options.
type PublishOptions struct{ json.RawMessage }

// advertises reports whether the options of a post declare that somebody pays for it, or that it is about the own
// brand.
func (o *PublishOptions) advertises() bool {
	if o == nil {
		return false
	}
	var declared struct {
		Paid       bool   `json:"paid_partnership"`
		Disclosure string `json:"disclosure"`
	}
	_ = json.Unmarshal(o.RawMessage, &declared) // other options have other types
	return declared.Paid || declared.Disclosure != "" && declared.Disclosure != "none"
}

// UnmarshalJSON leaves out members that are null: they are absent.
func (o *PublishOptions) UnmarshalJSON(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	maps.DeleteFunc(members, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	var err error
	o.RawMessage, err = json.Marshal(members)
	return err
}

// Posting is the internal state of a publication, which callers do not see.
type Posting struct {
	// At is the time of its place in the order of its account, and Day is the day on which it counts there. Both are
	// zero if it is neither scheduled nor under way.
	At  time.Time `json:"at,omitzero"`
	Day string    `json:"day,omitempty"`
	// Attempt counts how often its task was started.
	Attempt int `json:"attempt,omitempty"`
	// Doubt is the sealed progress of a publication whose post may exist. The next attempt begins with it.
	Doubt []byte `json:"doubt,omitempty"`
	// Changes counts the changes of the published post.
	Changes int `json:"changes,omitempty"`
	// Shown is the product as the post shows it since it was changed, or nil. Amended is the product that the last
	// change for a new price was made for, and AmendedBy the number of that change.
	Shown     *Product `json:"shown,omitempty"`
	Amended   *Product `json:"amended,omitempty"`
	AmendedBy int      `json:"amended_by,omitempty"`
	// More is platform.PublishedPost.More of the published post.
	More string `json:"more,omitempty"`
	// ComparedMetrics are the metrics at the first reading after the age of that name, or nil.
	ComparedMetrics *reading `json:"settled,omitempty"`
	// OwnChanges counts the changes of the version of its item that the document of the item does not have.
	OwnChanges int64 `json:"alone,omitempty"`
}

// PublishRehearsal is the result of a publication that a test key requests.
type PublishRehearsal struct {
	// Result on every account.
	Outcome string `json:"outcome,omitempty" enum:"published,failed" default:"published"`
	// Code of the failure. With outcome failed only. Absent: content_refused.
	FailureCode platform.Code `json:"failure_code,omitempty" maxLength:"64" example:"needs_reconnect"`
	// Seconds that the platform processes the post.
	DelaySeconds int `json:"delay_seconds,omitempty" minimum:"0" maximum:"60" default:"0"`
}

// Preview is what is published, or will be, on a platform or a social account, as the platform counts it.
type Preview struct {
	// Platform.
	Platform string `json:"platform"`
	// Social account. Null: any account of the platform.
	SocialAccountID *string `json:"social_account_id"`
	// Title. Null where the platform has none.
	Title resource.Text `json:"title"`
	// Text, with the hashtags where they belong to it.
	Text resource.Text `json:"caption"`
	// End of a long text, which is published as a message of its own. Null: none.
	Rest resource.Text `json:"rest"`
	// Hashtags that the platform has beside the text.
	Hashtags []string `json:"hashtags" nullable:"false"`
	// Ids of the files, in order.
	MediaIDs []string `json:"media_ids" nullable:"false"`
	// Lengths as the platform counts them.
	Counts []Count `json:"counts" nullable:"false"`
}

// Count is the length of a part of a post.
type Count struct {
	// Part of the post.
	Of string `json:"of" enum:"title,caption,rest,hashtags,media"`
	// Length, or number.
	Count int `json:"count"`
	// The most that the platform takes.
	Max int `json:"max"`
	// Unit of the platform.
	Unit string `json:"unit" format:"limit-unit"`
}
