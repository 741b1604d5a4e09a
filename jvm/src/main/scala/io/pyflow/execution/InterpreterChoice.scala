package io.pyflow.execution

import io.pyflow.bridge.Interpreter

/** Which interpreter fits which Python. */
object InterpreterChoice {

  /** Own-GIL interpreters are sound from 3.13 on. */
  def byDefault(pythonVersion: String): Interpreter =
    if (minor(pythonVersion).exists(_ >= 13)) Interpreter.ISOLATED else Interpreter.SHARED

  /** What a setting means for functions of a Python version; Left tells why it cannot be had. */
  def of(setting: String, pythonVersion: String): Either[String, Interpreter] = setting match {
    case "shared" => Right(Interpreter.SHARED)
    case "isolated" if byDefault(pythonVersion) == Interpreter.ISOLATED =>
      Right(Interpreter.ISOLATED)
    case "isolated" =>
      Left(
        s"isolated interpreters need Python 3.13 or newer, the function's is $pythonVersion " +
          "(set spark.pyflow.interpreter to auto or shared)")
    case _ => Right(byDefault(pythonVersion))
  }

  /** 13 of "3.13" and of "3.13.1"; None for what is not Python 3. */
  def minor(pythonVersion: String): Option[Int] = pythonVersion.split('.') match {
    case Array("3", minor, _*) => minor.toIntOption
    case _ => None
  }
}
