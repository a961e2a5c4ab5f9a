# The yoi package, for `callPackage`: the flake, its overlay and other people's configurations share it.
{
  lib,
  rustPlatform,
  makeWrapper,
  git,
  # Run the test suite as part of the build (the flake's `checks` do).
  runTests ? false,
}:
let
  manifest = (lib.importTOML ./Cargo.toml).package;
in
rustPlatform.buildRustPackage {
  pname = manifest.name;
  inherit (manifest) version;

  # Only what the build reads, so that editing anything else rebuilds nothing.
  src = lib.fileset.toSource {
    root = ./.;
    fileset = lib.fileset.unions (
      [
        ./Cargo.toml
        ./Cargo.lock
        ./.cargo
        ./src
        # Carried in the binary, for `yoi demo`.
        ./tickets-example
        # Cargo.toml names them, so they have to be there even where no test and no bench is built.
        ./tests/main.rs
        ./benches
      ]
      ++ lib.optionals runTests [
        ./tests
        ./docs
      ]
    );
  };
  cargoLock.lockFile = ./Cargo.lock;
  strictDeps = true;

  nativeBuildInputs = [ makeWrapper ];
  doCheck = runTests;
  nativeCheckInputs = [ git ];
  # Neither documentation tests, which need rustdoc (`.ci/run` has them), nor benches, which measure.
  cargoTestFlags = [
    "--lib"
    "--bins"
    "--tests"
  ];

  # yoi runs git: this one, whatever else is on the user's PATH.
  postInstall = ''
    wrapProgram $out/bin/yoi --prefix PATH : ${lib.makeBinPath [ git ]}
  '';

  doInstallCheck = true;
  installCheckPhase = ''
    $out/bin/yoi --version | grep -qF ${manifest.version}
  '';

  meta = {
    inherit (manifest) description;
    license = lib.licenses.mit;
    mainProgram = "yoi";
    platforms = lib.platforms.linux;
  };
}
