package io.pyflow.config

import io.pyflow.bridge.{InterpreterKind, PythonRuntime}

/** Which interpreter fits which Python. */
object InterpreterChoice {

  /** Own-GIL interpreters are sound from 3.13 on. */
  def byDefault(pythonVersion: String): InterpreterKind =
    if (minor(pythonVersion).exists(_ >= 13)) InterpreterKind.ISOLATED else InterpreterKind.SHARED

  /** The interpreter for a setting and a Python version; Left says why there is none. */
  def of(setting: String, pythonVersion: String): Either[String, InterpreterKind] = setting match {
    case "shared" => Right(InterpreterKind.SHARED)
    case "isolated" if byDefault(pythonVersion) == InterpreterKind.ISOLATED =>
      Right(InterpreterKind.ISOLATED)
    case "isolated" =>
      Left(
        s"isolated interpreters need Python 3.13 or newer, the function's is $pythonVersion " +
          "(set spark.pyflow.interpreter to auto or shared)")
    case _ => Right(byDefault(pythonVersion))
  }

  /**
   * The interpreter for a choice by the functions' Python version, in the CPython that runs in this
   * JVM; Left says why there is none. The version does not tell: a free-threaded build, for one, has
   * no GIL to give to interpreters, and all slots run in parallel in the shared one.
   *
   * @param isolatedRequired whether the session asks for isolated interpreters, not just for the
   *   best ones
   */
  def inRunningPython(
      choice: InterpreterKind,
      isolatedRequired: Boolean): Either[String, InterpreterKind] = {
    val reason = PythonRuntime.whyNoIsolatedInterpreters
    if (choice == InterpreterKind.SHARED || reason.isEmpty) {
      Right(choice)
    } else if (isolatedRequired) {
      Left(
        s"the embedded Python ${PythonRuntime.version} $reason (set spark.pyflow.interpreter to " +
          "auto or shared)")
    } else {
      Right(InterpreterKind.SHARED)
    }
  }

  /** 13 of "3.13" and of "3.13.1"; None for what is not Python 3. */
  def minor(pythonVersion: String): Option[Int] = pythonVersion.split('.') match {
    case Array("3", minor, _*) => minor.toIntOption
    case _ => None
  }
}
