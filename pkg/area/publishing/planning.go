package publishing

import (
	"context"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
)

// mostSlotDays bounds the period of a list of slots.
const mostSlotDays = 62

type validateBody struct {
	// Content item to check. Send it or item.
	ItemID string `json:"content_item_id,omitempty" maxLength:"64" example:"cnt_01h455vb4pex5vsknk084sn02q"`
	// Body of createContentItem to check.
	Item *content.CreateBody `json:"item,omitempty"`
	// Ids of the social accounts. Absent: those that the item is planned for, or else those of its factory.
	Accounts []string `json:"social_account_ids,omitempty" format:"accounts" nullable:"false"`
	// Time of publication. Absent: that of the item, or else now.
	PublishAt *resource.Time `json:"publish_at,omitempty" example:"2027-01-15T09:30:00Z"`
	// Time for which rules of law are checked (RFC 3339). Absent: that of the publication.
	At *resource.Time `json:"at,omitempty" example:"2027-01-15T09:30:00Z"`
	// Options of the post, by platform.
	Options content.PlatformOptions `json:"options,omitempty"`
}

// Rules refuses a body without a subject, or with two.
func (b validateBody) Rules() error {
	if (b.ItemID == "") == (b.Item == nil) {
		return errs.Invalid("/content_item_id", "send content_item_id or item, not both")
	}
	return nil
}

type validateInput struct {
	Body validateBody
}

type slotsInput struct {
	httpapi.SliceInput
	// Factory with the schedule.
	FactoryID string `query:"factory_id" required:"true" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Only this social account. Absent: all of the factory.
	AccountID string `query:"social_account_id"`
	// Only slots at this time or later (RFC 3339). Absent: now.
	From time.Time `query:"from"`
	// Only slots before this time (RFC 3339), up to 62 days later. Absent: 14 days later.
	To time.Time `query:"to"`
}

// Slot is a time of the schedule of a factory.
type Slot struct {
	// Time.
	At resource.Time `json:"at"`
	// Whether no item takes it on any of the accounts.
	Free bool `json:"free"`
	// Accounts on which an item takes it.
	Taken []TakenSlot `json:"taken" nullable:"false"`
}

// TakenSlot is an account on which a slot is taken.
type TakenSlot struct {
	// Social account.
	SocialAccountID string `json:"social_account_id"`
	// Content item that takes it.
	ContentItemID string `json:"content_item_id"`
	// Why it is taken. scheduled: the item is scheduled for it. planned: an item of the factory is planned for it, such
	// as one of a content plan, and is not scheduled yet.
	Reason string `json:"reason" enum:"scheduled,planned"`
}

// registerPlanning adds the checks and the slots.
func (s *Service) registerPlanning(r *httpapi.Router) {
	validate := op("validatePublishing", http.MethodPost, "/v1/publishing/validate", auth.ContentPublish,
		"Check a publication",
		"Returns every problem that an item, or the body of a new one, would have on each account: its texts, files "+
			"and options, the state of the account, the posts that are left on the day, a slot that is taken, an "+
			"approval that is missing, and rules of law of the region of its factory. Of content that is not "+
			"generated yet, it checks what is known. It changes "+
			"nothing.").Opening(httpapi.Nothing)
	validate.Errors = []errs.Code{errs.NotFound}
	httpapi.Write(r, validate, s.validate)

	slots := op("listSlots", http.MethodGet, "/v1/publishing/slots", auth.ContentRead, "List the slots of a schedule",
		"Lists the free and taken times of the schedule of a factory, the earliest first. The value `next_slot` of "+
			"`publish_at` takes the first time that is free on all accounts of the item. A time is taken by "+
			"everything that is scheduled for it, and by the items of the factory that are planned for it.").
		Opening(httpapi.Nothing)
	slots.Errors = []errs.Code{errs.NotFound, errs.InvalidCursor}
	httpapi.List(r, slots, s.slots)
}

func (s *Service) slots(ctx context.Context, in *slotsInput) (page httpapi.Page[Slot], err error) {
	f, _, err := s.factories.Find(ctx, in.FactoryID)
	if err != nil {
		return page, err
	}
	from, to := in.From, in.To
	if from.IsZero() {
		if from, err = testclock.Now(ctx, s.db, auth.FromContext(ctx).Owner, s.now()); err != nil {
			return page, err
		}
	}
	if to.IsZero() {
		to = from.AddDate(0, 0, 14)
	}
	if !from.Before(to) || to.Sub(from) > mostSlotDays*24*time.Hour {
		return page, errs.Invalid("to", "must be after from, and up to %d days later", mostSlotDays)
	}
	accounts := f.SocialAccountIDs
	if in.AccountID != "" {
		accounts = nil
		for _, attached := range f.SocialAccountIDs {
			if attached == in.AccountID {
				accounts = []string{attached}
			}
		}
		if accounts == nil {
			return page, errs.Invalid("social_account_id", "is not attached to the factory")
		}
	}
	times, err := content.TimesOf(f)
	if err != nil {
		return page, err
	}
	all := []Slot{}
	for _, at := range times.Between(from, to) {
		all = append(all, Slot{At: resource.Instant(at), Free: true, Taken: []TakenSlot{}})
	}
	var planned map[string]publication.Taken
	if len(accounts) > 0 {
		if planned, err = times.PlannedBetween(ctx, s.db, auth.FromContext(ctx).Owner, from, to); err != nil {
			return page, err
		}
	}
	for _, accountID := range accounts {
		taken, err := publication.TakenBetween(ctx, s.db, accountID, from, to)
		if err != nil {
			return page, err
		}
		for i := range all {
			by, why := taken.At(all[i].At.Time), "scheduled"
			if by == "" {
				by, why = planned[accountID].At(all[i].At.Time), "planned"
			}
			if by != "" {
				all[i].Free = false
				all[i].Taken = append(all[i].Taken, TakenSlot{accountID, by, why})
			}
		}
	}
	return httpapi.Slice(ctx, all, map[string]string{"factory": f.ID, "account": in.AccountID,
		"from": in.From.String(), "to": in.To.String()}, in.SliceInput,
		func(s Slot) string { return s.At.Format(resource.TimeLayout) })
}

// validate changes nothing, but is a POST, so that a repeat with the same Idempotency-Key gets the same answer.
func (s *Service) validate(ctx context.Context, _ *store.Tx, in *validateInput) (content.Validation, error) {
	b := in.Body
	if err := b.Rules(); err != nil {
		return content.Validation{}, err
	}
	p := content.Proposed{ItemID: b.ItemID, Body: b.Item, Accounts: b.Accounts, Options: b.Options}
	if b.PublishAt != nil {
		p.At = b.PublishAt.Time
	}
	if b.At != nil {
		p.RulesAt = b.At.Time
	}
	return s.content.Validate(ctx, p)
}
