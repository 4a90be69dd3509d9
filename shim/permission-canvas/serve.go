package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/shim"
)

// opening returns an opener for a server, and what closes the desktop that it
// opened, if it did, when the server has returned.
func (s *settings) opening(log *slog.Logger) (open shim.Open, closed func() error) {
	var desk *permissioncanvas.Canvas
	open = func(agent string) (shim.Desk, error) {
		d, err := s.open(agent, log)
		if err != nil {
			return nil, err
		}
		desk = d
		return d, nil
	}
	return open, func() error {
		if desk == nil {
			return nil
		}
		return desk.Close()
	}
}

// mcp is `mcp`. Stdout is the protocol's alone.
func (s *settings) mcp(ctx context.Context, in io.Reader, out io.Writer) error {
	log, end, err := s.logger()
	if err != nil {
		return err
	}
	defer end()
	open, closed := s.opening(log)
	err = shim.ServeMCP(ctx, open, in, out, log)
	return errors.Join(err, closed())
}

// lines is `serve --jsonl`. Stdout is the protocol's alone.
func (s *settings) lines(ctx context.Context, in io.Reader, out io.Writer) error {
	log, end, err := s.logger()
	if err != nil {
		return err
	}
	defer end()
	open, closed := s.opening(log)
	err = shim.ServeLines(ctx, func() (shim.Desk, error) { return open(s.agent) }, in, out, log)
	return errors.Join(err, closed())
}

// logger returns the log that a flag names, or a silent one.
func (s *settings) logger() (log *slog.Logger, end func() error, err error) {
	if s.log == "" {
		return slog.New(slog.DiscardHandler), func() error { return nil }, nil
	}
	f, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	return slog.New(slog.NewTextHandler(f, nil)), f.Close, nil
}

// call is `call`: one document on stdout, a refusal too.
func (s *settings) call(ctx context.Context, out io.Writer) error {
	open, closed := s.opening(nil)
	err := shim.Call(ctx, func() (shim.Desk, error) { return open("call") }, s.tool, json.RawMessage(s.arguments), out)
	return errors.Join(err, closed())
}

// describe is `manifest`.
func (s *settings) describe(out io.Writer) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	return document(out, shim.Describe(path, s.again()), s.pretty)
}

// update is `check-update`.
func (s *settings) update(out io.Writer) error {
	if s.json {
		return document(out, shim.CheckUpdate(), true)
	}
	_, err := fmt.Fprintln(out, "No network is asked. New versions are where you got this one.")
	return err
}

// document writes one JSON document.
func document(out io.Writer, v any, pretty bool) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if pretty {
		e.SetIndent("", "  ")
	}
	return e.Encode(v)
}
