package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stint-run/stint/server"
)

// writePair writes a certificate of that serial number and its key into dir, as
// cert.pem and key.pem; parts chooses which.
func writePair(t *testing.T, dir string, serial int64, parts ...string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret}}
	for _, name := range parts {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(blocks[name]), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(serial, 0) // two writes within one tick of the file's clock differ too
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// tlsServer serves with the pair in dir, and returns its address.
func tlsServer(t *testing.T, dir string) string {
	t.Helper()
	config, err := server.TLS(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{TLSConfig: config, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	go func() { _ = srv.ServeTLS(l, "", "") }()
	t.Cleanup(func() { srv.Close() })
	return l.Addr().String()
}

// serial is that of the certificate which a new connection gets.
func serial(t *testing.T, addr string) int64 {
	t.Helper()
	conn, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.ConnectionState().NegotiatedProtocol; got != "h2" {
		t.Errorf("the protocol is %q", got)
	}
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func TestARenewedCertificateIsServedWithoutARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writePair(t, dir, 1, "cert.pem", "key.pem")
	addr := tlsServer(t, dir)
	steps := []struct {
		name string
		do   func()
		want int64
	}{
		{"at first", func() {}, 1},
		{"renewed", func() { writePair(t, dir, 2, "cert.pem", "key.pem") }, 2},
		{"half renewed", func() { writePair(t, dir, 3, "cert.pem") }, 2},
		{"broken", func() { _ = os.WriteFile(filepath.Join(dir, "cert.pem"), []byte("junk"), 0o600) }, 2},
		{"a pipe that nobody writes to", func() {
			_ = os.Remove(filepath.Join(dir, "cert.pem"))
			_ = syscall.Mkfifo(filepath.Join(dir, "cert.pem"), 0o600)
		}, 2},
		{"gone", func() { _ = os.Remove(filepath.Join(dir, "key.pem")) }, 2},
		{"whole again", func() {
			_ = os.Remove(filepath.Join(dir, "cert.pem"))
			writePair(t, dir, 4, "cert.pem", "key.pem")
		}, 4},
	}
	for _, step := range steps {
		step.do()
		if got := serial(t, addr); got != step.want {
			t.Errorf("%s: certificate %d, want %d", step.name, got, step.want)
		}
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writePair(t, dir, 1, "cert.pem", "key.pem")
	addr := tlsServer(t, dir)
	if conn, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}); err == nil {
		conn.Close()
		t.Error("TLS 1.1 was accepted")
	}
}

func TestACertificateThatDoesNotFitStopsTheStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := func() error {
		_, err := server.TLS(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), slog.New(slog.DiscardHandler))
		return err
	}
	if files() == nil {
		t.Error("without files")
	}
	writePair(t, dir, 1, "cert.pem", "key.pem")
	writePair(t, dir, 2, "key.pem")
	if files() == nil {
		t.Error("with another's key")
	}
}
