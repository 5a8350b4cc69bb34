package factory

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// The lengths that the intro and the outro of videos may have.
const (
	leastBumper = time.Second
	mostBumper  = 30 * time.Second
)

// Files are the files of the media that the settings of a factory name. Each is nil if they name none.
type Files struct {
	Logo         *media.File
	Intro, Outro *media.File
}

// member is a member of the settings that names a media. Its attribute in the item of the factory holds the file.
type member struct {
	name string
	// types are the types that the media may have, and must says so in an error.
	types []media.Type
	must  string
	file  func(*Files) **media.File
}

var bumpers = []media.Type{media.Video, media.Image}

var members = []member{
	{"logo", []media.Type{media.Image}, "must be a picture", func(f *Files) **media.File { return &f.Logo }},
	{"intro", bumpers, "must be a video or a picture", func(f *Files) **media.File { return &f.Intro }},
	{"outro", bumpers, "must be a video or a picture", func(f *Files) **media.File { return &f.Outro }},
}

func (m member) param() string { return "/settings/" + m.name }

// check refuses a file that is too short or too long.
func (m member) check(f media.File) error {
	length := time.Duration(f.DurationSeconds * float64(time.Second))
	if f.Type == media.Video && (length < leastBumper || length > mostBumper) {
		return errs.Invalid(m.param(), "must play %.0f to %.0f seconds, and the media %s plays %.1f",
			leastBumper.Seconds(), mostBumper.Seconds(), f.ID, f.DurationSeconds)
	}
	return nil
}

// named returns the ids of the media that settings name, by the names of the members.
func (t TypeSettings) named() (map[string]string, error) {
	ids := map[string]string{}
	if len(t) == 0 {
		return ids, nil
	}
	var s struct{ Logo, Intro, Outro string }
	if err := json.Unmarshal(t, &s); err != nil {
		return nil, fmt.Errorf("factory: media of settings: %w", err)
	}
	ids["logo"], ids["intro"], ids["outro"] = s.Logo, s.Intro, s.Outro
	return ids, nil
}

// setFiles reads the media that the settings name anew, and adds to the transaction that they are kept. before are
// those that they named before.
func (s *Service) setFiles(ctx context.Context, tx *store.Tx, o tenant.Owner, f *Factory,
	before map[string]string) error {
	named, err := f.Settings.named()
	if err != nil {
		return err
	}
	var changed []member
	var asked []incoming.Member
	for _, m := range members {
		switch id := named[m.name]; id {
		case before[m.name]:
		case "":
			*m.file(&f.Files) = nil
		default:
			changed = append(changed, m)
			asked = append(asked, incoming.Member{Param: m.param(), Value: id, Type: m.types[0], Others: m.types[1:]})
		}
	}
	if len(changed) == 0 {
		return nil
	}
	given, err := incoming.Read(ctx, s.db, asked)
	if err != nil {
		return err
	}
	given = given.For(o)
	var found []error
	for i, m := range changed {
		file, err := given.File(asked[i])
		if errs.CodeOf(err) == errs.UnsupportedMedia {
			err = errs.Invalid(m.param(), "%s. %s", m.must, errs.As(err).Message)
		}
		if err == nil {
			err = m.check(file)
		}
		if err != nil {
			found = append(found, err)
			continue
		}
		*m.file(&f.Files) = &file
	}
	if len(found) > 0 {
		return errs.All(found...)
	}
	return given.Keep(tx, s.now())
}

// steeredAttribute is the attribute of the item of a factory that is steered.
const steeredAttribute = "steered"

// Steer has the next items of the factory of an item wait for an approval, if it publishes automatically.
func Steer(it *store.Item) {
	if it.Attributes == nil {
		it.Attributes = map[string]string{}
	}
	it.Attributes[steeredAttribute] = "true"
}

// encodeFiles writes the files into the item of the factory, and whether it is steered.
func (f *Factory) encodeFiles(it *store.Item) error {
	if delete(it.Attributes, steeredAttribute); f.Steered {
		Steer(it)
	}
	for _, m := range members {
		file := *m.file(&f.Files)
		if file == nil {
			delete(it.Attributes, m.name)
			continue
		}
		raw, err := json.Marshal(file)
		if err != nil {
			return err
		}
		if it.Attributes == nil {
			it.Attributes = map[string]string{}
		}
		it.Attributes[m.name] = string(raw)
	}
	return nil
}

func (f *Factory) decodeFiles(it *store.Item) error {
	f.Steered = it.Attributes[steeredAttribute] != ""
	for _, m := range members {
		raw := it.Attributes[m.name]
		if raw == "" {
			continue
		}
		if err := json.Unmarshal([]byte(raw), m.file(&f.Files)); err != nil {
			return fmt.Errorf("factory: %s of %s: %w", m.name, f.ID, err)
		}
	}
	return nil
}
