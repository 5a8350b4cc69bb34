package factory

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/content-automation/api/pkg/area/media/incoming"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// logoAttribute is the attribute of a factory's item that holds the file of its logo.
const logoAttribute = "logo"

// logo returns the id of the media that settings name as a logo, or an empty string.
func (t TypeSettings) logo() (string, error) {
	if len(t) == 0 {
		return "", nil
	}
	var s struct{ Logo string }
	if err := json.Unmarshal(t, &s); err != nil {
		return "", fmt.Errorf("factory: logo of settings: %w", err)
	}
	return s.Logo, nil
}

// setLogo reads the logo of the factory if it has changed, and adds to the transaction that
// its media is kept.
func (s *Service) setLogo(ctx context.Context, tx *store.Tx, f *Factory, before string) error {
	named, err := f.Settings.logo()
	if err != nil {
		return err
	}
	switch named {
	case before:
		return nil
	case "":
		f.Logo = nil
		return nil
	}
	m := incoming.Member{Param: "/settings/logo", Value: named, Type: media.Image}
	given, err := incoming.Read(ctx, s.db, []incoming.Member{m})
	if err != nil {
		return err
	}
	file, err := given.File(m)
	if errs.CodeOf(err) == errs.UnsupportedMedia {
		return errs.Invalid(m.Param, "must be a picture. %s", errs.As(err).Message)
	}
	if err != nil {
		return err
	}
	f.Logo = &file
	return given.Keep(tx, s.now())
}

// encodeLogo writes the file of the logo into the item of the factory.
func (f *Factory) encodeLogo(it *store.Item) error {
	if f.Logo == nil {
		delete(it.Attributes, logoAttribute)
		return nil
	}
	raw, err := json.Marshal(f.Logo)
	if err != nil {
		return err
	}
	if it.Attributes == nil {
		it.Attributes = map[string]string{}
	}
	it.Attributes[logoAttribute] = string(raw)
	return nil
}

// decodeLogo reads it.
func (f *Factory) decodeLogo(it *store.Item) error {
	raw := it.Attributes[logoAttribute]
	if raw == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(raw), &f.Logo); err != nil {
		return fmt.Errorf("factory: logo of %s: %w", f.ID, err)
	}
	return nil
}
