package sketch

import (
	"errors"
	"os"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/probe"
)

// open reads the properties of a part, and refuses one of another type.
func open(path, about string, want media.Type) (probe.Info, error) {
	file, err := os.Open(path)
	if err != nil {
		return probe.Info{}, err
	}
	defer func() { _ = file.Close() }()
	stat, err := file.Stat()
	if err != nil {
		return probe.Info{}, err
	}
	info, err := probe.Read(file, stat.Size())
	switch {
	case errors.Is(err, probe.ErrUnsupported):
		return info, unreadable(about, err)
	case err == nil && info.Type != want:
		return info, unreadable(about, errors.New("it is "+info.MIMEType))
	}
	return info, err
}

// fault returns the error of a part, in the form of the engine with ffmpeg.
func fault(code compose.Code, about, message string) *compose.Error {
	return &compose.Error{Code: code, Stage: compose.StageInputs, About: about, Message: message}
}

func unreadable(about string, cause error) *compose.Error {
	e := fault(compose.CodeUnreadable, about, "The file is broken, or not of the type that is needed here. Replace it.")
	e.Err = cause
	return e
}
