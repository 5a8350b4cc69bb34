package content

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/content-automation/api/pkg/base/errs"
)

// batchErrors collects why items of a batch cannot be accepted.
type batchErrors struct {
	first   *errs.Error
	details []errs.Detail
}

// add notes the error of the i-th item. It returns err unchanged unless callers may see it.
func (f *batchErrors) add(i int, err error) error {
	var e *errs.Error
	if !errors.As(err, &e) {
		return err
	}
	at := fmt.Sprintf("/items/%d", i)
	for _, d := range detailsOf(e) {
		f.details = append(f.details, errs.Detail{Param: at + d.Param, Message: d.Message})
	}
	f.first = cmp.Or(f.first, e)
	return nil
}

// detailsOf returns the details of an error, or the error as one.
func detailsOf(e *errs.Error) []errs.Detail {
	if e.Details != nil {
		return e.Details
	}
	return []errs.Detail{{Param: e.Param, Message: e.Message}}
}

// addAt notes the error of the item with an id, which the body names in a place.
func (f *batchErrors) addAt(place, itemID string, err error) error {
	var e *errs.Error
	if !errors.As(err, &e) {
		return err
	}
	for _, d := range detailsOf(e) {
		message := itemID + ": " + d.Message
		if d.Param != "" {
			message = itemID + ": " + d.Param + ": " + d.Message
		}
		f.details = append(f.details, errs.Detail{Param: place, Message: message})
	}
	f.first = cmp.Or(f.first, e)
	return nil
}

// err returns the error of the whole batch, or nil if no item was refused.
func (f *batchErrors) err() error {
	if f.first == nil {
		return nil
	}
	e := errs.InvalidFields(f.details...)
	e.Code, e.Context = f.first.Code, f.first.Context
	return e
}

// Rules refuses members that do not fit the kinds of the items.
func (b *batchBody) Rules() error {
	var bad batchErrors
	for i := range b.Items {
		if err := b.Items[i].Rules(); err != nil {
			if err := bad.add(i, err); err != nil {
				return err
			}
		}
	}
	return bad.err()
}
